"""Does the loss start at ln C, the loss of guessing?

A classifier that has learned nothing and is not confident has a loss of ln C. Far above: its first outputs are confident and
wrong (large weights), or the loss is summed instead of averaged. The first steps only undo that. Far below with a new model: the
loss is divided twice, or the answer leaks in. With a pretrained model a low loss is expected.
"""

import math
from dataclasses import dataclass

import numpy as np

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, need_steps
from bugzoo.diagnostics.conditions import Alarm, above, below
from bugzoo.diagnostics.numbers import TWICE, Measured, judges, number
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.running.result import Run

COST = 0
VIEW = "loss_curve"
TITLE = "First loss"
KNOWN_PROBLEMS = (
    "A false positive where a large regression term joins the cross-entropy: the total loss, not the cross-entropy "
    "alone, is compared with ln C. "
    "It misses a first loss far below ln C, and says nothing about a loss without a log-softmax."
)
HEALTHY = example()
SICK = example(("targets[rows])", "targets[rows], reduction='sum')"))
ROWS, PART, OVER = 4, 0.6, 1.6
"""A sum over at least `ROWS` rows is `PART` to `OVER` times as many losses of guessing."""


@dataclass(kw_only=True)
class Numbers(Measured):
    """Losses in nats, and ratios to the loss of guessing."""

    ratio: float = number("first loss over the loss of guessing", (0, 3))
    first_loss: float = number("loss of the first step (nats)", hidden=TWICE)
    chance: float = number("loss of guessing, ln C (nats)", hidden=TWICE)
    classes: float
    rows: float
    averaged: float
    later_ratio: float


summed = ~below("rows", ROWS) & below("averaged", 1) & above("ratio", PART * ROWS)
lasting = above("later_ratio", 1.2)
confident = above("ratio", 10) | (above("ratio", 3) & lasting)
high = Alarm(
    summed | confident,
    "The first loss was compared with the loss of guessing, {chance:.3g}. It is {first_loss:.3g}, {ratio:.2g} times as "
    "much.",
    "Up to {limits[ratio]:.0f} times as much passes.",
)
ALARMS = (high,)


def measure(run: Run) -> Numbers:
    """First loss in nats, ln C, and their ratio. Raises NotApplicable unless the loss is a cross-entropy."""
    steps = need_steps(run, 1)
    graph = run.trace.graph
    classes = graph.classes or 0
    if classes < 2:
        raise NotApplicable("the loss is not a cross-entropy over classes, so there is no ln C to compare with")
    loss = column(run.trace.loss)
    first = float(loss[0])
    later = loss[max(1, steps // 3) :]
    return Numbers(
        first_loss=first,
        chance=math.log(classes),
        ratio=first / math.log(classes),
        classes=float(classes),
        rows=float(graph.rows or 0),
        averaged=float(graph.reduction == "mean" and graph.ops[:1] == (graph.loss_op,)),
        later_ratio=float(np.nanmedian(later)) / math.log(classes) if np.isfinite(later).any() else math.nan,
    )


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires if the first loss is far above ln C and stays above it after a third of the run, or is huge."""
    ratio, rows = numbers.ratio, numbers.rows
    chance = f"ln {numbers.classes:.0f} = {numbers.chance:.3g}"
    text = f"the first loss is {numbers.first_loss:.3g}, and the loss of guessing is {chance}"
    suspects: tuple[Suspect, ...] = ()
    if summed(numbers) and PART * rows < ratio < OVER * rows:
        text += f": about {rows:.0f} times as much, the rows in the batch, so it is a sum, not a mean"
        suspects = (Suspect("loss/sum_reduction", 0.6, text),)
    elif confident(numbers):
        text += f", {ratio:.1f} times as much"
        text += ", and the loss stays above it" if lasting(numbers) else ": the untrained model is confident and wrong"
        suspects = (Suspect("initialisation/confident_head", 0.4, text),)
    return Verdict("initial_loss", bool(suspects), text, numbers.labeled(), suspects)
