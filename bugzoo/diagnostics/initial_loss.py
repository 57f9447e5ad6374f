"""Is the loss before any learning what guessing costs?

A classifier that knows nothing and is not sure of itself has a loss of ln C. Far above: the head starts out confident
and wrong (large weights, or a loss that is summed instead of averaged); the first steps only undo that. Far below with
a new model: the loss is divided twice, or the answer leaks in. With a pretrained model, low is what one hopes for.
"""

import math
from typing import Any

import numpy as np

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, need_steps, pick
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.running.result import Run

COST = 0
SHOWN = {
    "first_loss": ("loss of the first step (nats)", ""),
    "chance": ("loss of guessing (nats)", ""),
    "ratio": ("the one over the other", "about 1"),
}
HEALTHY = example()
SICK = example(("targets[rows])", "targets[rows], reduction='sum')"))


def measure(run: Run) -> dict[str, Any]:
    """First loss in nats, ln C, and their ratio. Raises NotApplicable unless the loss is a cross-entropy."""
    steps = need_steps(run, 1)
    graph = run.trace.graph
    classes = graph.classes or 0
    if classes < 2:
        raise NotApplicable("the loss is no cross-entropy over classes, so there is no ln C to compare with")
    loss = column(run.trace.loss)
    first = float(loss[0])
    later = loss[max(1, steps // 3) :]
    return {
        "first_loss": first,
        "chance": math.log(classes),
        "ratio": first / math.log(classes),
        "classes": float(classes),
        "rows": float(graph.rows or 0),
        "averaged": float(graph.reduction == "mean" and graph.ops[:1] == (graph.loss_op,)),
        "later_ratio": float(np.nanmedian(later)) / math.log(classes) if np.isfinite(later).any() else math.nan,
    }


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires when the first loss is a multiple of ln C that the run does not shed within its first third, or a huge one."""
    ratio, later = numbers["ratio"], numbers.get("later_ratio", math.nan)
    shown = pick(numbers, "first_loss", "chance", "ratio")
    chance = f"ln {numbers['classes']:.0f} = {numbers['chance']:.3g}"
    text = f"the first loss is {numbers['first_loss']:.3g}, guessing costs {chance}"
    rows = numbers["rows"]
    if rows >= 4 and not numbers["averaged"] and 0.6 * rows < ratio < 1.6 * rows:
        text += f": about {rows:.0f} times as much, the number of rows in the batch, so it is a sum and no mean"
        return Verdict("initial_loss", True, text, shown, (Suspect("loss/sum_reduction", 0.6, text),))
    if ratio > 10 or (ratio > 3 and later > 1.2):
        text += f", {ratio:.1f} times as much"
        text += ", and the run does not get rid of it" if later > 1.2 else ": it begins certain of what it cannot know"
        return Verdict("initial_loss", True, text, shown, (Suspect("initialisation/confident_head", 0.4, text),))
    return Verdict("initial_loss", False, text, shown)
