"""Where nothing is wrong, the program as it was handed out is what a submission is held to."""

import dataclasses

import numpy as np
import pytest

from bugzoo.grading import baseline, integrity
from bugzoo.grading.baseline import Baseline
from bugzoo.grading.model import Check
from bugzoo.grading.submission import Submission
from bugzoo.running import Run
from bugzoo.scenario import Scenario
from bugzoo.watching.trace import Trace

TRAP, FAULT = (Scenario("mlp", (name,)) for name in ("traps/log_softmax_first", "loss/double_softmax"))


def test_a_trap_is_measured_by_itself_and_a_fault_by_its_healthy_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baseline, "reached", lambda scenario, text: text)
    assert baseline.twin(TRAP) == TRAP.source
    assert baseline.twin(FAULT) == FAULT.healthy().source


@pytest.mark.parametrize("unit", [1.0, 1e-3])
def test_losses_agree_with_those_of_either_text_relative_to_their_size(
    monkeypatch: pytest.MonkeyPatch, unit: float
) -> None:
    usual = Baseline(0.9, 0.3, 60, tuple(unit * np.linspace(2.3, 1.0, 60)), 0)
    other = dataclasses.replace(usual, losses=tuple(unit * np.linspace(2.0, 0.5, 60)))
    monkeypatch.setattr(integrity, "reached", lambda scenario, text: other)
    monkeypatch.setattr(baseline, "twin", lambda scenario: usual)

    def agrees(losses: np.ndarray) -> bool:
        run = Run(Trace(loss=losses, backwards=np.ones(60)))
        [check] = integrity.unchanged(Submission(run, TRAP))
        return check.passed

    for twin in (usual, other):
        assert agrees(np.array(twin.losses))
        assert not agrees(1.01 * np.array(twin.losses))


@pytest.mark.parametrize(
    ("scale", "others", "good"),
    [(1.0, "passed", True), (1.0, "wrong", False), (1.1, "passed", False), (1.0, "", False)],
)
def test_another_order_of_the_batches_is_no_other_behavior_where_all_else_passes(
    monkeypatch: pytest.MonkeyPatch, scale: float, others: str, good: bool
) -> None:
    usual = Baseline(0.9, 0.3, 60, tuple(np.linspace(1.1, 1.0, 60)), 0)
    monkeypatch.setattr(integrity, "reached", lambda scenario, text: usual)
    monkeypatch.setattr(baseline, "twin", lambda scenario: usual)
    losses = scale * np.random.default_rng(0).permutation(np.array(usual.losses))
    checks = [Check("order", others, "")] if others else []
    [check] = integrity.unchanged(Submission(Run(Trace(loss=losses, backwards=np.ones(60))), TRAP), checks)
    assert check.passed is good, check
