"""Several clippings in one body: which of them the numbers speak of."""

import pytest

from bugzoo import diagnostics
from bugzoo.diagnostics._example import example
from bugzoo.running import run_here

NORM, VALUE = (f"torch.nn.utils.clip_grad_{kind}_(model.parameters(), {{}})" for kind in ("norm", "value"))


def read(*lines: str) -> tuple[dict, bool]:
    """The numbers, and whether it fires, with these lines between backward() and the step."""
    source = example(("loss.backward()", "\n        ".join(["loss.backward()", *lines]))).source
    reading = diagnostics.read("clip_rate", run_here(source, file="clipped.py"))
    (verdict,) = diagnostics.judge_all({"clip_rate": reading})
    return reading.numbers, verdict.fired


@pytest.mark.parametrize("limits", [(1e-3, 10.0), (10.0, 1e-3)])
def test_of_several_norms_the_tightest_counts_wherever_it_stands(limits):
    numbers, fired = read(*(NORM.format(limit) for limit in limits))
    assert fired and numbers["limit"] == 1e-3 and numbers["bites_share"] > 0.9 and numbers["times_over"] > 20


@pytest.mark.parametrize("lines", [(VALUE.format(1e-4), NORM.format(1.0)), (NORM.format(1.0), VALUE.format(1e-4))])
def test_a_clipping_by_value_is_not_hidden_behind_one_by_norm(lines):
    numbers, fired = read(*lines)
    assert fired and numbers["by_value"] == 1 and numbers["cosine"] < 0.9


def test_one_by_value_that_cuts_nothing_says_nothing():
    numbers, fired = read(VALUE.format(100.0), NORM.format(1.0))
    assert not fired and numbers["by_value"] == 0 and numbers["limit"] == 1.0


def test_number_by_number_of_each_parameter_alone_is_one_clipping():
    loop = "for weights in model.parameters():"
    numbers, fired = read(loop, "    torch.nn.utils.clip_grad_value_(weights, 0.4)")
    assert not fired and numbers["touched_share"] < 0.1


def test_what_is_clipped_when_nobody_follows_it_does_not_count_beside_what_is_followed():
    source = example(
        ("loss.backward()", f"{NORM.format(1e-3)}\n        loss.backward()\n        {NORM.format(1.0)}"),
    ).source
    numbers = diagnostics.read("clip_rate", run_here(source, file="clipped.py")).numbers
    assert numbers["used_share"] == 1 and numbers["limit"] == 1.0
