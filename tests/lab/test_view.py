"""A live view: real runs in a thread that stop, pause, can be taken apart, repaired and repeated to the last bit."""

import os
import random
import threading
import time

import pytest
import torch

from bugzoo import Scenario, UserError, lab
from bugzoo.lab import borders, healthy_twin
from bugzoo.lab.engine import Engine
from bugzoo.running import Job, run_here

BROKEN = Scenario("mlp", ("numerics/log_at_step?step=50&eps=0",))
ENDLESS = "import time\nwhile True:\n    time.sleep(0.01)\n"


def started(what=BROKEN, **options) -> lab.LiveView:
    """A view without widgets whose run goes on in a thread."""
    return lab.LiveView(what, **{"pace": 0, **options}).start()


@pytest.fixture(scope="module")
def plain():
    """The same texts run the ordinary way."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    runs = run_here(BROKEN.source), run_here(BROKEN.healthy().source)
    torch.set_num_threads(before)
    return runs


def test_both_runs_are_real_and_equal_ordinary_runs(front_end, plain) -> None:
    view = started()
    assert view.result.trace.loss.tobytes() == plain[0].trace.loss.tobytes()
    assert view.healthy.trace.loss.tobytes() == plain[1].trace.loss.tobytes()
    assert view.result.outcome == "non_finite"
    assert "grad_norm" not in repr(view) and BROKEN.ticket in repr(view)


@pytest.mark.serial
def test_stop_keeps_what_was_done(front_end) -> None:
    view = started(show_twin=False)
    while len(view.points) < 5:
        time.sleep(0.005)
    begin = time.monotonic()
    view.stop()
    run = view.result
    assert time.monotonic() - begin < 20  # not a measurement: a step takes milliseconds
    assert run.outcome == "stopped" and 5 <= len(run.trace.step) < 216


@pytest.mark.serial
def test_stop_ends_a_script_that_makes_no_steps(front_end) -> None:
    view = started(ENDLESS)
    time.sleep(0.3)
    view.stop()
    assert view.result.outcome == "stopped"


def test_pause_probe_advance_patch_and_go_on(front_end, plain) -> None:
    view = started(show_twin=False, pause_at=50)
    assert view.wait_pause() and view.state == "paused" and len(view.points) == 50
    assert all(p.isfinite().all() for p in view.objects["model"].parameters())
    with pytest.raises(UserError, match="paused"):
        _ = view.result
    with pytest.raises(UserError, match=r"view\.restart"):
        view.patch(BROKEN.source.replace("learning_rate = 1e-3", "learning_rate = 1e-4"))
    with pytest.raises(UserError, match="not Python"):
        view.patch("def (")
    assert view.patch(BROKEN.healthy().source) == ["Net"]
    assert view.advance(3) and len(view.points) == 53
    view.resume()
    assert view.result.trace.loss.tobytes() == plain[1].trace.loss.tobytes()


def test_start_again_with_another_text(front_end, plain) -> None:
    view = started(show_twin=False, pause_at=3)
    view.wait_pause()
    view.pause_at = None
    view.restart(BROKEN.healthy().source)
    assert view.result.trace.loss.tobytes() == plain[1].trace.loss.tobytes()


@pytest.mark.serial
def test_cells_that_draw_random_numbers_do_not_disturb_a_run(front_end, plain, monkeypatch) -> None:
    """What IPython's hooks do around each cell, done by hand: run and cells keep their own generators."""
    torch.manual_seed(7)
    random.seed(7)
    expected = [torch.rand(1).item() for _ in range(20)], [random.random() for _ in range(20)]
    torch.manual_seed(7)
    random.seed(7)
    view = started(show_twin=False, pace=400)
    numbers: tuple[list, list] = ([], [])
    while not view.points:
        time.sleep(0.001)
    for _ in range(20):
        borders._before_cell()
        assert view._engine.ended or view._engine._border.parked
        numbers[0].append(torch.rand(1).item())
        numbers[1].append(random.random())
        borders._after_cell()
        time.sleep(0.01)
    assert not view._engine.ended, "the run ended too early to prove anything"
    assert view.result.trace.loss.tobytes() == plain[0].trace.loss.tobytes()
    assert numbers == expected


def test_cells_may_train_beside_a_run_that_stands_still(front_end, plain) -> None:
    """torch's global hooks hear every thread: a loop in a cell must neither wait for the run nor get into its trace."""
    view = started(show_twin=False, pause_at=20)
    assert view.wait_pause()
    cell = {}
    exec(compile(BROKEN.healthy().source, "cell.py", "exec"), cell)
    view.objects["model"](view.objects["inputs"])  # probing the live model is no step of its training either
    assert cell["losses"] == plain[1].trace.loss.tolist() and len(view.points) == 20
    view.resume()
    trace = view.result.trace
    assert trace.loss.tobytes() == plain[0].trace.loss.tobytes()
    assert trace.forwards == plain[0].trace.forwards and trace.modules == plain[0].trace.modules


def test_a_crash_is_shown_and_not_raised(front_end, capsys) -> None:
    view = started("1 / 0\n", show_twin=False).show()
    run = view.result
    assert run.outcome == "crashed" and "ZeroDivisionError" in run.trace.error["traceback"]
    view.restart()
    view.wait()
    end = time.monotonic() + 30
    while "ZeroDivisionError" not in view.widgets.status.value and time.monotonic() < end:
        time.sleep(0.02)
    assert "ZeroDivisionError" in view.widgets.status.value
    assert "bugzoo/lab" not in view.widgets.status.value


def test_two_views_take_turns(front_end) -> None:
    first = started(show_twin=False, pause_at=2)
    assert first.wait_pause()
    second = started(show_twin=False)
    time.sleep(0.2)
    assert second.state == "waiting"
    with pytest.raises(UserError, match="already running"):
        second.start()
    first.stop()
    assert len(second.result.trace.step) == 216


def test_a_view_that_never_ran_says_what_to_do() -> None:
    with pytest.raises(UserError, match="Press Run"):
        _ = lab.LiveView(BROKEN).result
    with pytest.raises(UserError, match="Scenario or the text"):
        lab.LiveView(42)


@pytest.mark.slow
def test_twin_is_run_once(front_end) -> None:
    healthy_twin._KEPT.clear()
    first = started()
    first.wait()
    second = started()
    second.wait()
    assert first._twin is not None and second._twin is None
    assert second.healthy.trace.metrics == first.healthy.trace.metrics


def test_headless_prints_and_respects_the_cap(monkeypatch, capsys) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    before = threading.active_count()
    view = lab.LiveView(BROKEN, cap=20).show().start()
    assert threading.active_count() == before
    assert view.result.outcome == "stopped" and len(view.result.trace.step) == 20
    printed = capsys.readouterr()
    assert "stopped after 20 steps" in printed.out and printed.err == ""


def test_engine_reports_its_first_point() -> None:
    engine = Engine(BROKEN.source, "mlp.py", cap=3)
    engine.run_now()
    assert engine.first_point_seconds is not None and len(engine.points) == 3


@pytest.mark.slow
def test_several_ranks_are_watched_and_stopped_from_here(front_end) -> None:
    """A hang too: no step comes any more, and Stop ends it all the same."""
    view = started(Scenario("data_parallel", ("distributed/skipped_batch",)), show_twin=False)
    with pytest.raises(UserError, match="cannot be paused"):
        view.pause()
    end = time.monotonic() + 60
    while not view.points and time.monotonic() < end:
        time.sleep(0.05)
    assert view.points
    view.stop()
    assert view.wait(30) and view.result.outcome == "stopped"


@pytest.mark.slow
def test_a_recorded_curve_is_the_twin_and_a_job_gives_a_process_of_its_own(front_end) -> None:
    curve = lab.Curve([1, 2, 3], [2.0, 1.5, 1.0], [1.0, 1.0, 0.5], {"accuracy": 0.97})
    source = "import os\nprint(os.getpid())\n" + BROKEN.source
    view = lab.live(source, healthy=curve, job=Job("", file="program.py"), explain=False)
    run = view.result
    assert view.healthy is curve and view.case.file == "program.py" and run.outcome == "non_finite"
    assert str(os.getpid()) not in run.stdout and len(view.points) == len(run.trace.step)
    assert view.widgets.chart.count("healthy") == 3
    table = view._bundle()["text/plain"]
    assert "healthy: finished after 3 steps; validation accuracy 0.97" in table and "first non-finite" not in table
    assert "finished after" in view.widgets.status.value and "not finite" not in view.widgets.status.value
    assert "loss nan" in view.widgets.status.value, "the number itself is no secret"
    assert view.widgets.chart.mark == {}
    with pytest.raises(UserError, match="its own processes"):
        view.pause()


def test_a_run_that_is_stopped_while_it_imports_leaves_no_module_half_made(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = []

    def slow(names: tuple[str, ...] = ()) -> None:
        for part in range(40):
            time.sleep(0.01)
            whole.append(part)

    monkeypatch.setattr("bugzoo.lab.engine.load", slow)
    engine = Engine(ENDLESS, "endless.py")
    engine.start()
    engine.stop(patience=0.05)  # insists several times while it imports, and ends what follows
    assert engine.wait(30) and len(whole) == 40
    assert engine.run is not None and engine.run.outcome == "stopped"
