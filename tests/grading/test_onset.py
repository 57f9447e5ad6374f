"""The first step at which a fault shows: set by its parameter, measured on its run, or there from the start."""

import math
from typing import Any

import numpy as np
import pytest

from bugzoo.faults import load as fault_of
from bugzoo.grading import answers, healthy
from bugzoo.grading.answers import filled, grade_diagnosis, right
from bugzoo.grading.exercises import load
from bugzoo.grading.notebook import build
from bugzoo.grading.onset import first_non_finite, onset
from bugzoo.lab.healthy_twin import Curve
from bugzoo.proving import check
from bugzoo.running import run_here

NAN, INF = math.nan, math.inf


@pytest.fixture
def idle(monkeypatch: Any) -> None:
    """No program may run."""
    monkeypatch.setattr(answers, "_right", {})
    monkeypatch.setattr(healthy, "recorded", lambda *_: pytest.fail("this needs no run"))


@pytest.mark.parametrize(
    ("losses", "norms", "wanted"),
    [
        ([2, 1, INF, NAN], [1, 1, NAN, NAN], (3, 3)),
        ([2, 1, NAN, NAN], [1, NAN, NAN, NAN], (2, 3)),  # the gradient was lost one step earlier
        ([2, 1, NAN, NAN], [NAN, NAN, NAN, NAN], (3, 3)),  # no gradient norm was measured
        ([2, 1, 1, 1], [1, 1, 1, 1], None),
        ([NAN, NAN, NAN, NAN], [NAN, NAN, NAN, NAN], None),  # it shows from the first step
    ],
)
def test_the_first_loss_or_gradient_that_is_not_finite(losses: list[float], norms: list[float], wanted: Any) -> None:
    assert first_non_finite(Curve([1, 2, 3, 4], losses, norms)) == wanted


def test_a_parameter_or_another_symptom_needs_no_run(idle: None) -> None:
    assert onset(fault_of("numerics/log_at_step"), {"step": 44, "eps": 0.0}, "") == (45, 46)
    assert onset(fault_of("loss/double_softmax"), {}, "") is None


@pytest.mark.slow
def test_a_learners_notebook_and_the_ledgers_keys_need_no_run(idle: None) -> None:
    assert "cell.form(" in build(load("07"), "student")
    assert all(check.key_of(trial) for trial in check.work_of("07_sudden_nan").values())


@pytest.mark.slow
def test_a_late_nan_is_asked_for_at_the_step_that_its_run_shows() -> None:
    losses = run_here(load("07").handed_out).trace.loss
    first = int(np.flatnonzero(~np.isfinite(losses))[0]) + 1
    assert first > 10 and right(load("07")).step == (first, first)
    answer = filled(load("07"))
    points = {
        step: grade_diagnosis("07", answer | {"step": step}).points for step in (first, first - 2, first + 1, 1, None)
    }
    assert points == {first: 5.0, first - 2: 4.0, first + 1: 4.0, 1: 4.0, None: 4.0}


@pytest.mark.slow
def test_a_nan_from_the_start_takes_any_step() -> None:
    answer = filled(load("08"))
    result = grade_diagnosis("08", answer | {"step": 7})
    assert answer["step"] is None and result.passed and "no single first step" in str(result)
