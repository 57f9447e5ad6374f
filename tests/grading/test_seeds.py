"""What is asked on the first seed alone, and that a submission that is ill on another one is refused all the same."""

from dataclasses import replace
from typing import Any

import pytest

from bugzoo import faults
from bugzoo.grading import grade, runs
from bugzoo.grading.groups import GROUPS, state
from bugzoo.grading.readings import spared
from bugzoo.grading.texts import tidy
from bugzoo.scenario import Scenario

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
def test_each_seed_has_its_readings(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    real = runs.run_of
    monkeypatch.setattr(runs, "run_of", lambda job: seen.append(real(job)) or seen[-1])
    assert grade.grade(tidy(CASE.healthy().source), CASE, seeds=(0, 1)).passed
    assert [run.readings["overfit_one_batch"].applies for run in seen] == [True, False]
    assert all(seen[0].readings.keys() == run.readings.keys() for run in seen)


@pytest.mark.slow
def test_one_that_is_ill_on_another_seed_is_refused() -> None:
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
