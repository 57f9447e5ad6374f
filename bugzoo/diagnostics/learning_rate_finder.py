"""Up to which learning rate does one batch train without its loss rising?

The loop's own body runs ten steps on the first step's batch, from the initial weights. It does so at nine learning rates, from
a thousandth of the script's own to a thousand times it. At the low end the loss does not move, then it falls ever further.
Past the lowest point each step overshoots, until ten steps leave the loss higher than before. Choose a third to a tenth of the
learning rate where that begins. The verdict never fires: batches differ, a warm-up allows more, and long training needs less.
"""

import math
from typing import Any

import numpy as np

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, interleaved, pick
from bugzoo.diagnostics.verdict import NotApplicable, Verdict
from bugzoo.rerun.body import at_rate
from bugzoo.rerun.budget import Budget
from bugzoo.running.result import Run

COST = 1
TRAINS = True
ACCUSES = False
SHOWN = {
    "used": ("largest learning rate that the script used", "a third to a tenth of where the loss rises"),
    "best": ("learning rate at which ten steps lower the loss most", ""),
    "climbs": ("lowest learning rate at which ten steps raise the loss", ""),
    "of_limit": ("largest learning rate used, over the lowest that raises the loss", "0.001 to 0.3"),
}
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


def measure(run: Run) -> dict[str, Any]:
    """Learning rates, and the curve: lists of rates and losses. Raises NotApplicable where one batch cannot be repeated."""
    if interleaved(run.trace) > 1:
        raise NotApplicable("optimizers take turns: there is no single learning rate to look for")
    rates = column(run.trace.learning_rate)
    used = float(np.nanmax(rates)) if len(rates) and np.isfinite(rates).any() else 0.0
    if used <= 0:
        raise NotApplicable("no learning rate above 0 was seen")
    budget, first, rates_tried, losses = Budget(SECONDS), math.nan, list[float](), list[float]()
    for factor in FACTORS:
        left = budget.left
        # one step more than STEPS, as each loss is computed before its step
        found = column(at_rate(run, used * factor, STEPS + 1, left).losses) if left > 0 else np.empty(0)
        if len(found) < 2:
            break
        first = float(found[0]) if math.isnan(first) else first
        rates_tried.append(used * factor)
        losses.append(float(found[-1]) if math.isfinite(found[-1]) else math.inf)
    if len(losses) < len(FACTORS) // 2 + 1 or not math.isfinite(first):
        raise NotApplicable(f"only {len(losses)} learning rates fit in {SECONDS:g} s, or the first loss is not finite")
    over = [place for place, loss in enumerate(losses) if loss > first + CLIMB * abs(first)]
    end = over[0] if over else len(losses)
    best, climbs = int(np.argmin(losses[: max(end, 1)])), rates_tried[end] if over else math.inf
    return {
        "used": used, "best": rates_tried[best], "climbs": climbs, "of_limit": used / climbs,
        "first_loss": first, "lowest_loss": losses[best], "rates": rates_tried, "losses": losses,
    }  # fmt: skip


def judge(numbers: dict[str, Any]) -> Verdict:
    """Never fires: the numbers say where to look for a better learning rate."""
    shown = pick(numbers, *SHOWN)
    text = f"ten steps on one batch lower the loss most at learning rate {numbers['best']:.2g}"
    if math.isfinite(numbers["climbs"]):
        text += f", and raise it from {numbers['climbs']:.2g} on"
    else:
        text += f", and raise it nowhere up to {max(numbers['rates']):.2g}"
    return Verdict("learning_rate_finder", False, f"{text}; the script used {numbers['used']:.2g}", shown)
