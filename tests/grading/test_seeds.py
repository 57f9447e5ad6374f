"""What is asked on the first seed alone, and that a submission that is ill on another one is refused all the same."""

import threading
from dataclasses import replace
from typing import Any

import pytest

from bugzoo import faults, programs
from bugzoo.grading import baseline, grade, reference, repeated_steps, runs
from bugzoo.grading.baseline import Baseline, twin
from bugzoo.grading.drawing import draw
from bugzoo.grading.groups import GROUPS, state
from bugzoo.grading.readings import spared
from bugzoo.grading.texts import tidy
from bugzoo.running import Run
from bugzoo.scenario import Scenario
from bugzoo.watching.trace import Trace

CASE = Scenario("mlp", ("loss/double_softmax",))


def test_what_trains_once_more_is_asked_on_the_first_seed() -> None:
    first, others = spared(CASE, True), spared(CASE, False)
    assert set(others) - set(first) == {"overfit_one_batch"} and set(first) < set(others)


def test_what_accuses_nobody_is_asked_on_no_seed() -> None:
    assert "shape_trace" in spared(CASE, True) and "double_normalisation" not in spared(CASE, False)


def test_unless_it_is_what_shows_the_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    other = replace(faults.load("loss/double_softmax"), evidence=("overfit_one_batch.ratio > 0.5",))
    monkeypatch.setattr(faults, "load", lambda name: other)
    assert "overfit_one_batch" not in spared(Scenario("mlp", ("loss/double_softmax",)), False)


@pytest.mark.slow
def test_one_that_is_ill_on_another_seed_is_refused_and_each_seed_has_its_readings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    finished: list[Any] = []
    real = runs.run_of
    monkeypatch.setattr(runs, "run_of", lambda job: finished.append(real(job)) or finished[-1])
    source = tidy(CASE.healthy().source).replace("F.cross_entropy(", "(ill if seed == 1 else F.cross_entropy)(", 1)
    source = source.replace(
        "# %% Training", "ill = lambda logits, labels: F.cross_entropy(logits.softmax(-1), labels)\n\n# %% Training", 1
    )
    result = grade.grade(source, CASE, seeds=(0, 1))
    failed = [check for check in result.checks if not check.passed]
    assert result.status == "wrong" and {check.group for check in failed} == {"every_run"}, str(result)
    assert all(check.saw.startswith("With seed 1: ") for check in failed) and "symptom" in {
        check.name for check in failed
    }
    assert [state(result, group) for group in GROUPS] == ["passed", "passed", "passed", "passed", "failed"], str(result)
    assert [run.readings["overfit_one_batch"].applies for run in finished] == [True, False]
    assert finished[0].readings.keys() == finished[1].readings.keys()


@pytest.mark.slow
def test_a_wrong_one_needs_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends with the first seed's run: no other seed, no drawn seed, no second start and no dropout drawn again."""
    jobs: list[Any] = []
    real = runs.run_worker
    monkeypatch.setattr(runs, "run_worker", lambda job: jobs.append(job) or real(job))
    monkeypatch.setattr(
        repeated_steps, "drawn", lambda *_: pytest.fail("the dropout of a refused repair was drawn again")
    )
    result = grade.grade(tidy(CASE.source), CASE, seeds=(0, 1, 2))
    assert result.status == "wrong" and len(jobs) == 1 and sum(jobs[0].keep_steps) > 20


@pytest.mark.sampled(2)
@pytest.mark.slow
@pytest.mark.parametrize("program", [name for name in programs.names() if "held_out" in programs.load(name).facts])
def test_the_settings_say_how_many_steps_a_program_takes(program: str) -> None:
    """The draw needs it before the healthy twin has run. Where they do not say it, the twin runs first."""
    case = Scenario(program)
    assert case.ranks > 1 or reference.steps(case) in (None, twin(case).steps)


def test_the_twin_runs_beside_the_first_submission_and_decides_which_steps_are_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    met, draws = threading.Barrier(2, timeout=60), []
    usual = Baseline(0.9, 0.3, 40, (), 0)

    def healthy(_: Scenario) -> Baseline:
        met.wait()
        return usual

    def own(job: Any) -> Run:
        draws.append(job.keep_steps)
        if len(draws) == 1:
            met.wait()
        return Run(Trace())

    monkeypatch.setattr(baseline, "known", lambda case: False)
    monkeypatch.setattr(baseline, "twin", healthy)
    monkeypatch.setattr(runs, "run_of", own)
    monkeypatch.setattr(reference, "steps", lambda case: 40)
    request = runs.Asked(tidy(CASE.source), CASE, (0,), 60.0, False, draw=5)
    request.run(0)
    assert draws == [draw(5, 0, 40)], "it has waited for the twin to start, and the twin for it"
    monkeypatch.setattr(reference, "steps", lambda case: 30)
    draws.clear()
    request.run(0)
    assert draws == [draw(5, 0, 30), draw(5, 0, 40)], "the number of steps was not what the settings say"
