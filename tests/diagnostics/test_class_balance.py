"""Rare classes that are not recognised: what is nobody's mistake leaves it quiet."""

import pytest

from bugzoo import diagnostics
from bugzoo.diagnostics import class_balance
from bugzoo.diagnostics._example import example
from bugzoo.diagnostics.class_balance import _LAST, _SELDOM, _TAIL
from bugzoo.running import Reading, run_here

DRAWN = ("torch.randperm(256).split(32)", _SELDOM)
LOSS = "F.cross_entropy(logits, targets[rows])"


def read(*edits: tuple[str, str]) -> Reading:
    reading = diagnostics.read(
        "class_balance", run_here(example((_LAST, _LAST + _TAIL), *edits).source, file="rare.py")
    )
    assert reading.applies, reading.why_not
    return reading


def test_rare_classes_that_are_weighed_are_left_in_peace():
    weighed = (LOSS, LOSS[:-1] + ", weight=torch.tensor([1.0, 1.0, 50.0]))")
    # drawn fifty times as seldom, learnt for longer, and with a voice that makes up for it
    numbers = read(DRAWN, weighed, ("range(5)", "range(60)")).numbers
    assert numbers["rare_classes"] == 1 and numbers["recall_gap"] < class_balance.GAP
    assert not class_balance.judge(numbers).fired


def test_a_class_that_is_only_a_little_rarer_is_no_rare_one():
    assert read().numbers["rare_classes"] == 0  # a quarter of the samples each, and half of them


@pytest.mark.parametrize(
    ("flattery", "first"), [(0.0, "data/class_imbalance_ignored"), (0.2, "metrics/accuracy_on_imbalance")]
)
def test_a_report_that_hides_it_is_named_first(flattery, first):
    verdict = class_balance.judge(read(DRAWN).numbers | {"flattery": flattery})
    assert verdict.fired and verdict.suspects[0].cause == first


def test_without_class_numbers_it_has_nothing_to_say():
    squares = (LOSS, "F.mse_loss(logits[:, 0], inputs[rows][:, 0])")
    reading = diagnostics.read("class_balance", run_here(example(squares, (_LAST, _LAST + _TAIL)).source))
    assert not reading.applies and "class label" in reading.why_not
