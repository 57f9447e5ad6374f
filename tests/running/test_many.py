"""run_many: order, progress, one failure among others, and another executor."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from bugzoo.running import Job, Limits, run_many

from .conftest import training

pytestmark = pytest.mark.usefixtures("nothing_left")


def test_order_progress_and_one_failure():
    sources = [training(5), "1 / 0", training(7), "while True: pass", "print('x')"]
    calls = []
    runs = run_many(
        [Job(source, limits=Limits(seconds=5 if "while" not in source else 0.5)) for source in sources],
        progress=lambda done, total, run: calls.append((done, total, run.outcome)),
    )
    assert [run.outcome for run in runs] == ["finished", "crashed", "finished", "timed_out", "finished"]
    assert [len(run.trace.step) for run in runs] == [5, 0, 7, 0, 0]
    assert [number for number, _, _ in calls] == [1, 2, 3, 4, 5] and {total for _, total, _ in calls} == {5}


def test_twins_are_equal_whatever_runs_beside_them():
    runs = run_many([Job(training(15))] * 4)
    assert all(run.trace.loss.tolist() == runs[0].trace.loss.tolist() for run in runs)
    assert len(runs[0].trace.loss) == 15


def test_any_executor_and_a_job_that_cannot_be_run():
    with ThreadPoolExecutor(1) as executor:
        runs = run_many([Job("print(1)"), Job("pass", cwd="/nowhere/at/all"), Job("print(2)")], executor=executor)
    assert [run.stdout for run in (runs[0], runs[2])] == ["1\n", "2\n"]
    assert runs[1].outcome == "crashed"
    assert "/nowhere/at/all" in runs[1].stdout


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # distributed's own, on shutting down
def test_a_dask_cluster_runs_jobs():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        runs = run_many([Job(training(steps)) for steps in (3, 4, 5)], executor=client.get_executor())
    assert [len(run.trace.step) for run in runs] == [3, 4, 5]
