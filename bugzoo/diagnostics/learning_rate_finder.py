"""Up to which learning rate does one batch train without its loss rising?

The loop's own body runs ten steps on the first step's batch, from the initial weights. It does so at nine learning rates, from
a thousandth of the script's own to a thousand times it. At the low end the loss does not move, then it falls ever further.
Past the lowest point each step overshoots, until ten steps leave the loss higher than before. Choose a third to a tenth of the
learning rate where that begins. The verdict never fires: batches differ, a warm-up allows more, and long training needs less.
"""

import math
from dataclasses import dataclass

import numpy as np

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, interleaved
from bugzoo.diagnostics.numbers import Measured, judges, number
from bugzoo.diagnostics.verdict import NotApplicable, Verdict
from bugzoo.rerun.body import at_rate
from bugzoo.rerun.budget import Budget
from bugzoo.running.result import Run

COST = 1
TRAINS = True
ACCUSES = False
KNOWN_PROBLEMS = (
    "It never fires, and its learning rates are least certain under a warm-up, in long training or for batches that "
    "differ. "
    "It says nothing about optimizers that take turns, or where fewer than five learning rates fit in 1.5 s."
)
HEALTHY = example()
SICK = example(("lr=1e-2", "lr=3.0"))
STEPS, SECONDS = 10, 1.5
"""Steps at each learning rate; processor time for all of them."""
CLIMB = 0.05
"""Part of the first loss by which ten steps may raise it."""
FACTORS = tuple(10 ** (0.75 * place) for place in range(-4, 5))
"""Multiples of the script's own learning rate."""


@dataclass(kw_only=True)
class Numbers(Measured):
    """Learning rates, and the curve: one loss for each of `rates`. `climbs` is infinite where no loss rises."""

    used: float = number("largest learning rate that the script used", "a third to a tenth of where the loss rises")
    best: float = number("learning rate at which ten steps lower the loss most")
    climbs: float = number("lowest learning rate at which ten steps raise the loss")
    of_limit: float = number("largest learning rate used, over the lowest that raises the loss", (0.001, 0.3))
    first_loss: float
    lowest_loss: float
    rates: list[float]
    losses: list[float]


def measure(run: Run) -> Numbers:
    """Learning rates, and the curve: lists of rates and losses. Raises NotApplicable where one batch cannot be repeated."""
    if interleaved(run.trace) > 1:
        raise NotApplicable("optimizers take turns: there is no single learning rate to look for")
    recorded = column(run.trace.learning_rate)
    used = float(np.nanmax(recorded)) if len(recorded) and np.isfinite(recorded).any() else 0.0
    if used <= 0:
        raise NotApplicable("no learning rate above 0 was seen")
    budget, first, rates, losses = Budget(SECONDS), math.nan, list[float](), list[float]()
    for factor in FACTORS:
        left = budget.left
        # one step more than STEPS, as each loss is computed before its step
        curve = column(at_rate(run, used * factor, STEPS + 1, left).losses) if left > 0 else np.empty(0)
        if len(curve) < 2:
            break
        first = float(curve[0]) if math.isnan(first) else first
        rates.append(used * factor)
        losses.append(float(curve[-1]) if math.isfinite(curve[-1]) else math.inf)
    if len(losses) < len(FACTORS) // 2 + 1 or not math.isfinite(first):
        raise NotApplicable(f"only {len(losses)} learning rates fit in {SECONDS:g} s, or the first loss is not finite")
    over = [place for place, loss in enumerate(losses) if loss > first + CLIMB * abs(first)]
    end = over[0] if over else len(losses)
    best, climbs = int(np.argmin(losses[: max(end, 1)])), rates[end] if over else math.inf
    return Numbers(
        used=used, best=rates[best], climbs=climbs, of_limit=used / climbs,
        first_loss=first, lowest_loss=losses[best], rates=rates, losses=losses,
    )  # fmt: skip


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Never fires: the numbers say where to look for a better learning rate."""
    text = f"ten steps on one batch lower the loss most at learning rate {numbers.best:.2g}"
    if math.isfinite(numbers.climbs):
        text += f", and raise it from {numbers.climbs:.2g} on"
    else:
        text += f", and raise it nowhere up to {max(numbers.rates):.2g}"
    return Verdict("learning_rate_finder", False, f"{text}; the script used {numbers.used:.2g}", numbers.labeled())
