"""What the reference program answers with somebody's weights, and which of them count as never moved."""

from types import SimpleNamespace
from typing import cast

import numpy as np

from bugzoo.grading import reference
from bugzoo.grading.baseline import untouched
from bugzoo.running import Run
from bugzoo.scenario import Scenario
from bugzoo.watching.records import Parameter


def changed(program: str, part: str) -> tuple[float, int]:
    """How far the answers move when a part of the state is something else; number of elements that were changed."""
    scenario = Scenario(program, settings={"epochs": 1} if program == "digits_cnn" else {"steps": 2})
    inputs, _ = reference.questions(scenario)
    model = reference.space(reference.healthy_text(scenario), scenario.program)["model"]
    state = {name: value.detach().numpy().copy() for name, value in model.state_dict().items()}
    other = {name: value * 0 + 3 if name.endswith(part) else value for name, value in state.items()}
    size = sum(value.size for name, value in state.items() if name.endswith(part))
    usual, moved = (reference.answer(scenario, weights, inputs[:8]) for weights in (state, other))
    return float(np.abs(usual - moved).max()), size


def test_a_mask_that_a_repair_leaves_unused_is_no_part_of_the_answer():
    assert changed("mini_transformer", ".mask")[0] == 0 and changed("mini_transformer", ".mask")[1] > 100


def test_averages_that_a_layer_kept_are():
    distance, size = changed("digits_cnn", "running_mean")
    assert size and distance > 0.01


def test_what_a_hand_in_leaves_does_not_reach_the_next_one():
    """With NaN in the reference model each comparison of two of its outputs said that they differ."""
    scenario = Scenario("mlp", settings={"epochs": 1})
    inputs, _ = reference.questions(scenario)
    model = reference.space(reference.healthy_text(scenario), scenario.program)["model"]
    before = {name: value.clone() for name, value in model.state_dict().items()}
    bad = {name: value.numpy() * float("nan") for name, value in before.items()}
    assert np.isnan(reference.answer(scenario, bad, inputs[:8])).all()
    assert all(value.equal(before[name]) for name, value in model.state_dict().items()) and model.training


def kept(*parameters: tuple[str, float]) -> int:
    """Elements that never moved, of parameters with 6 numbers each: (name, change)."""
    entries = [Parameter(name, (2, 3), True, "float32", "cpu", 0, changed) for name, changed in parameters]
    return untouched(cast(Run, SimpleNamespace(trace=SimpleNamespace(parameters=entries))))


def test_a_copy_that_is_only_looked_at_never_moves_and_is_no_part_of_the_training():
    assert kept(("head.weight", 0.0)) == 6 and kept(("head.weight", 0.0), ("head.weight", 0.1)) == 0
    assert kept(("head.weight", 0.1), ("Net.head.weight", 0.0)) == 0 and kept(("Net.head.weight", 0.0)) == 6
    assert kept(("", 0.0), ("", 0.1)) == 6, "who they are is not known"
    assert kept(("head.weight", float("nan"))) == 0
