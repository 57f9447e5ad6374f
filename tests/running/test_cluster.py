"""A real Dask scheduler with two workers in processes of their own, one of which is killed half-way: nothing is lost."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bugzoo.errors import UserError
from bugzoo.running.cluster import connected

distributed = pytest.importorskip("distributed")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]  # distributed's own, on shutting down
WORKER = ["--no-nanny", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1"]


class Cluster:
    """One scheduler and its workers."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.processes = folder, []
        place = folder / "scheduler.json"
        self.start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(place))
        self.address = self.wait_for(lambda: place.exists() and self._read(place))

    def _read(self, place: Path) -> str:
        import json

        try:
            return json.loads(place.read_text())["address"]
        except (ValueError, KeyError):
            return ""

    def start(self, kind: str, *words: str) -> subprocess.Popen:
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *words]
        environment = os.environ | {"BUGZOO_CACHE": str(self.folder / f"cache-{len(self.processes)}")}
        with open(self.folder / f"{kind}-{len(self.processes)}.log", "wb") as log:
            self.processes.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=self.folder))
        return self.processes[-1]

    def workers(self, count: int) -> list[subprocess.Popen]:
        started = [self.start("worker", self.address, *WORKER) for _ in range(count)]
        with distributed.Client(self.address, set_as_default=False, timeout=60) as client:
            client.wait_for_workers(count, timeout=120)
        return started

    def wait_for(self, thing: Callable[[], Any]) -> Any:
        end = time.monotonic() + 120
        while not (answer := thing()):
            assert time.monotonic() < end and all(process.poll() is None for process in self.processes)
            time.sleep(0.1)
        return answer


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    machines = Cluster(tmp_path)
    yield machines
    for process in reversed(machines.processes):
        process.send_signal(signal.SIGTERM)
    for process in machines.processes:
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Killer:
    """A progress that kills a worker once something is done."""

    def __init__(self, victim: subprocess.Popen) -> None:
        self.victim, self.told = victim, []

    def __call__(self, done: int, of: int) -> None:
        self.told.append((done, of))
        if done == 2:
            self.victim.kill()
            self.victim.wait()


@pytest.mark.sampled(0)
def test_verify_gives_the_same_table(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bugzoo.proving.verify import verify

    def prove(**more: Any) -> Any:
        return verify(["loss/double_softmax", "loop/stale_gradients"], ["mlp"], seeds=(0, 1, 2), **more)

    killer = Killer(cluster.workers(2)[0])
    monkeypatch.setenv("BUGZOO_CACHE", str(tmp_path / "there"))
    with connected(cluster.address) as executor:
        there = prove(executor=executor, progress=killer)
    assert killer.victim.poll() is not None and killer.told[-1] == (9, 9) and there.ok
    monkeypatch.setenv("BUGZOO_CACHE", str(tmp_path / "here"))
    assert there.to_json()["cells"] == prove().to_json()["cells"]


@pytest.mark.sampled(0)
def test_check_gives_the_same_results(cluster: Cluster) -> None:
    from bugzoo.grading.exercises import load
    from bugzoo.proving.check import prove_one
    from bugzoo.running.pool import run_all

    def told(result: dict[str, Any]) -> dict[str, Any]:
        return {name: result[name] for name in ("status", "share", "failed")}

    trials = [one for one in load("10").kind.trials(load("10")) if one.kind in ("unsolved", "solution", "attack")][:5]
    killer, finished = Killer(cluster.workers(2)[0]), []
    with connected(cluster.address) as executor:
        there = run_all(
            prove_one,
            trials,
            executor=executor,
            on_done=lambda *one: (finished.append(one), killer(len(finished), len(trials))),
        )
    assert killer.victim.poll() is not None
    assert [told(one) for one in there] == [told(one) for one in run_all(prove_one, trials)]


@pytest.mark.sampled(0)
def test_a_class_gets_the_same_points(cluster: Cluster, tmp_path: Path, sandboxed: None) -> None:
    from bugzoo.instructor import tasks
    from bugzoo.instructor.classroom import grade_class

    handed_in, name = tmp_path / "submitted", "10_restless_loss"
    handed_in.mkdir()
    for student, room in {"ada": "solutions", "bob": "exercises", "eve": "solutions", "joe": "exercises"}.items():
        shutil.copy(Path(__file__).parents[2] / room / f"{name}.ipynb", handed_in / f"{student}.ipynb")

    def points(results: str, **more: Any) -> list[tuple[str, str, float | None]]:
        records = grade_class(handed_in, tasks.load(name), tmp_path / results, **more)
        return [(record.student, record.state, record.points) for record in records]

    killer = Killer(cluster.workers(2)[0])
    with connected(cluster.address) as executor:
        there = points("there", executor=executor, progress=killer)
    assert killer.victim.poll() is not None and there == points("here")
    assert [state for _, state, _ in there] == ["passed", "not attempted", "passed", "not attempted"]


@pytest.mark.parametrize("address", ["127.0.0.1:8786", "tcp://nobody", "http://here:1", "tcp://:8786", ""])
def test_what_is_no_address(address: str) -> None:
    with pytest.raises(UserError, match="write tcp://HOST:PORT"), connected(address):
        pass


def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bugzoo.running.cluster.PATIENCE", 1)
    with pytest.raises(UserError, match="no scheduler answers"), connected("tcp://127.0.0.1:9"):
        pass


@pytest.mark.sampled(0)
def test_no_worker_and_a_worker_that_differs(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="the cluster has no workers"), connected(cluster.address):
        pass
    cluster.workers(1)
    monkeypatch.setattr("bugzoo.running.cluster.version", lambda name: "1.0")
    with pytest.raises(UserError, match="another version of bugzoo or torch"), connected(cluster.address):
        pass


def test_without_an_address() -> None:
    with connected(None) as executor:
        assert executor is None
