"""Repairs that are right for a part of the training, in one mode, or where one usually looks, do not pass; right ones do."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from bugzoo.grading import grade, recomputed
from bugzoo.grading.exercises import load
from bugzoo.grading.grade import healthy_text, job_of
from bugzoo.running import run_worker
from bugzoo.scenario import with_settings
from tests.grading.in_time import IN_TIME

CASES = [(exercise, name) for exercise, tricks in IN_TIME.items() for name in tricks]


def tricked(exercise: str, name: str) -> str:
    text = healthy_text(load(exercise))
    for old, new in IN_TIME[exercise][name]:
        assert text.count(old) == 1, (exercise, name, old)
        text = text.replace(old, new)
    return text


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize(("exercise", "name"), CASES)
def test_no_repair_that_holds_only_here_and_there_passes(exercise: str, name: str) -> None:
    result = grade.grade_exercise(exercise, tricked(exercise, name), attempted=True)
    assert not result.passed and result.share == 0, str(result)


@pytest.mark.slow
def test_without_that_check_one_of_them_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grade, "worked_out", lambda *args: [])
    result = grade.grade_exercise("16_flat_loss", tricked("16_flat_loss", "softmax in the first epoch"), attempted=True)
    assert result.passed, str(result)


def test_all_of_them_can_be_written() -> None:
    assert all(tricked(*case) for case in CASES) and len(CASES) >= 15


def test_steps_are_others_for_another_text_and_lie_everywhere() -> None:
    one, same, other = (recomputed.secret_steps(text, 216, "key") for text in ("a", "a", "b"))
    assert one == same != other != recomputed.secret_steps("b", 216, "another key")
    assert all(any(part * 27 < step <= (part + 1) * 27 for step in one) for part in range(8))
    assert any(b - a == 1 for a, b in itertools.pairwise(one)) and 1 <= min(one) <= max(one) <= 216
    assert recomputed.secret_steps("a", 2, "key") == [1, 2]


def watched(text: str, exercise: str, steps: list[int]):
    job = job_of(with_settings(text, {"seed": 0}, "it"), load(exercise).scenario, 60, False)
    return run_worker(replace(job, after=None, predict=(), watch_settings={"witness": steps}))


@pytest.mark.slow
def test_a_step_is_worked_out_to_the_last_digits_with_dropout_and_batch_norm() -> None:
    exercise = load("24_good_pictures")
    text = healthy_text(exercise)
    run = watched(text, exercise.name, [3, 4, 90])
    found = recomputed.compared(run, exercise.program, exercise.scenario.healthy().source)
    assert [one.step for one in found] == [3, 4, 90]
    assert all(abs(one.cosine - 1) < 1e-6 and abs(one.ratio - 1) < 1e-5 for one in found)
    spoilt = {name: np.roll(value, 1) if name.endswith("targets") else value for name, value in run.arrays.items()}
    run.arrays = spoilt
    assert all(
        one.cosine < 0.99 for one in recomputed.compared(run, exercise.program, exercise.scenario.healthy().source)
    )


def test_too_little_says_nothing() -> None:
    run = watched(healthy_text(load("16")), "16_flat_loss", [5, 6])
    assert recomputed.check(run, "mlp", [load("16").scenario.healthy().source]) is None
