"""A busy grader's slowness costs nobody a point; only where a fault is about time it counts, and then beside a twin."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

import bugzoo.grading.grade as room
from bugzoo.diagnostics import names
from bugzoo.grading import drawing, readings, runs, speed
from bugzoo.grading.baseline import twin
from bugzoo.grading.exercises import load
from bugzoo.grading.isolation import isolate
from bugzoo.grading.judge import judge, signs
from bugzoo.grading.model import Check
from bugzoo.grading.partial_credit import shows
from bugzoo.grading.submission import Submission
from bugzoo.running import Job, Run
from bugzoo.running.reading import Reading
from bugzoo.scenario import Scenario
from bugzoo.syntax import parse_in_threads
from bugzoo.watching.trace import Trace
from tests.grading.attempt import must_pass
from tests.grading.tricks import MENDED
from tests.sampling import only_in_prove

pytestmark = pytest.mark.serial

SLOW = Scenario("image_pipeline", ("speed/starved_loader",), size="tiny")


@pytest.fixture
def busy():
    """Twice as many other programs as there are processors."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * os.cpu_count())]
    yield
    for other in others:
        other.kill()
        other.wait()


@pytest.mark.slow
@pytest.mark.parametrize(("at_once", "seeds"), [(3, (0, 1)), only_in_prove(6, (0, 1, 2))])
def test_model_solutions_at_once_beside_other_work_all_pass(busy, sandboxed, at_once, seeds):
    exercise = replace(load("10_restless_loss"), seconds=60.0)
    scenario = exercise.scenario
    with ThreadPoolExecutor(at_once, initializer=parse_in_threads) as pool:  # as bugzoo's own pool
        results = list(pool.map(lambda _: room.grade(MENDED, scenario, seeds=seeds), range(at_once)))
    assert all(result.passed for result in results), "\n".join(map(str, results))


LATE = {"data_ms": 90.0, "data_share": 0.9, "forward_ms": 1.0, "backward_ms": 1.0, "step_ms": 1.0, "num_workers": 0.0}
LATE |= dict.fromkeys(("forward_share", "backward_share", "step_share"), 0.01)
LATE |= {"idle_share": 0.5, "data_share_of_all": 0.9, "mean_data_ms": 90.0}


@pytest.fixture
def late(monkeypatch):
    """Every run looks starved, as one on a busy machine may."""
    usual = runs.measured
    monkeypatch.setattr(runs, "measured", lambda run: usual(run) | {"step_timeline": Reading(dict(LATE))})


def test_an_instrument_of_time_decides_nothing_where_time_is_not_the_fault(late):
    must_pass(MENDED)


def test_milliseconds_decide_nowhere_and_a_share_of_the_steps_where_slowness_is_the_fault():
    run = Run(Trace(outcome="finished"), readings={"step_timeline": Reading(LATE)})
    for case in (SLOW, Scenario("mlp")):
        assert "step_timeline" not in {check.name for check in signs(Submission(run, case))}
    assert readings.timed() == ("step_timeline",)
    [(fault, _)] = SLOW.specs
    assert shows(fault, run.readings)
    assert not shows(
        fault, {"step_timeline": Reading(LATE | {"data_share": 0.3})}
    )  # as many milliseconds, all of them slow


LOADED = ("step_timeline", "memory_audit.growth_mib_per_step", "memory_audit.graphs_alive")
"""What a busy machine may change: an instrument of time; a number that no judge reads; and one of which the judge takes off
what the watch's own snapshots hold (`graphs_kept`), as these come by the clock."""


@pytest.mark.slow
def test_nothing_else_that_a_repair_is_judged_by_depends_on_the_load(request):
    """The repair `model.train().requires_grad_(True)` was once refused and then passed: an instrument of time had fired."""
    case = Scenario("digits_cnn", ("freezing/frozen_layers",), size="tiny")
    source = case.source.replace("    model.train()\n", "    model.train().requires_grad_(True)\n")
    assert source != case.source
    steps = drawing.draw(0, 0, twin(case).steps)
    job = replace(runs.job_of(source, case, 60.0, isolated=False), keep_steps=steps)
    alone = runs.run_of(job)
    request.getfixturevalue("busy")
    crowded = runs.run_of(job)
    for run in (alone, crowded):
        judged = judge(Submission(run, case))
        assert all(check.passed for check in judged), judged
    for name in names():
        for key, value in alone.readings[name].numbers.items():
            if name not in LOADED and f"{name}.{key}" not in LOADED:
                assert repr(crowded.readings[name].numbers[key]) == repr(value), (name, key)


def beside(monkeypatch, seconds: list[tuple[float, float]], **usual: str) -> Check:
    """The check, with the supervisor's seconds of (submission, twin) for one pair after the other."""
    pairs = iter(seconds)

    def both(function, jobs, **options):
        assert jobs[1].source == SLOW.healthy().source and jobs[1].isolated == jobs[0].isolated
        submission, twin = next(pairs)
        return [
            Run(Trace(outcome="finished"), elapsed=submission),
            Run(Trace(outcome=usual.get("outcome", "finished")), elapsed=twin, trouble=usual.get("trouble", "")),
        ]

    monkeypatch.setattr(speed, "run_all", both)
    return speed.beside(isolate(Job(SLOW.source)), SLOW)


def test_slowness_is_a_ratio_to_a_twin_that_runs_beside(monkeypatch):
    assert beside(monkeypatch, [(80.0, 50.0)]).passed  # slow in seconds, on a machine on which everything is
    assert beside(monkeypatch, [(9.0, 3.0), (4.0, 3.0)]).passed  # one of two pairs was disturbed
    check = beside(monkeypatch, [(0.9, 0.2), (0.8, 0.2)])
    assert not check.passed and check.number == pytest.approx(4.0) and "times as long" in check.saw


def test_a_machine_that_fails_a_pair_is_nobodys_fault(monkeypatch):
    with pytest.raises(RuntimeError, match="disk"):
        beside(monkeypatch, [(1.0, 1.0)], trouble="the disk is full")
    with pytest.raises(RuntimeError, match="timed_out"):
        beside(monkeypatch, [(1.0, 1.0)], outcome="timed_out")


@pytest.mark.slow
def test_the_starved_loader_takes_longer_than_its_twin_also_on_a_busy_machine(busy):
    assert not speed.beside(isolate(Job(SLOW.source)), SLOW).passed
    assert speed.beside(isolate(Job(SLOW.healthy().source)), SLOW).passed


def test_time_is_asked_about_only_there():
    assert speed.about_time(SLOW) and not speed.about_time(Scenario("mlp", ("loop/stale_gradients",)))
    assert not speed.about_time(Scenario("mlp", ("speed/graph_breaks",)))  # compiling takes longer than its training
