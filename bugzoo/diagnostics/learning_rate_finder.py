"""At which rate do ten steps bring the loss down furthest, and from which one on do they bring it up?

The loop's own body on the first step's batch, ten times, from the weights that the training began with: at the script's own
rate, at a thousandth of it, at a thousand times it, and at seven rates in between. At the low end nothing moves; then
the loss comes down further and further; behind the lowest point each step overshoots, and in the end ten of them leave it higher
than it was. Take a third to a tenth of the rate at which that begins. It accuses nobody: batches differ, a warm-up bears more,
and a long training wants less.
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
    "used": ("largest rate that the script used", "a third to a tenth of the next but one"),
    "best": ("rate at which ten steps bring the loss down furthest", ""),
    "climbs": ("rate from which on they bring it up", ""),
    "of_limit": ("the first over the third", "0.001 to 0.3"),
}
HEALTHY = example()
SICK = example(("lr=1e-2", "lr=3.0"))
STEPS, SECONDS = 10, 1.5
"""At each rate; processor time for all of them."""
CLIMB = 0.05
"""Part of the first loss by which ten steps may leave it higher."""
FACTORS = tuple(10 ** (0.75 * place) for place in range(-4, 5))
"""Of the script's own rate."""


def measure(run: Run) -> dict[str, Any]:
    """Rates, and the curve: (steps,) rates and losses. Raises NotApplicable where one batch cannot be repeated."""
    if interleaved(run.trace) > 1:
        raise NotApplicable("optimisers take turns: there is no single rate to look for")
    rates = column(run.trace.learning_rate)
    used = float(np.nanmax(rates)) if len(rates) and np.isfinite(rates).any() else 0.0
    if used <= 0:
        raise NotApplicable("no rate above 0 was seen")
    budget, first, rates_tried, losses = Budget(SECONDS), math.nan, list[float](), list[float]()
    for factor in FACTORS:
        left = budget.left
        # one step more than STEPS, as each loss is that before its step
        found = column(at_rate(run, used * factor, STEPS + 1, left).losses) if left > 0 else np.empty(0)
        if len(found) < 2:
            break
        first = float(found[0]) if math.isnan(first) else first
        rates_tried.append(used * factor)
        losses.append(float(found[-1]) if math.isfinite(found[-1]) else math.inf)
    if len(losses) < len(FACTORS) // 2 + 1 or not math.isfinite(first):
        raise NotApplicable(f"only {len(losses)} rates could be tried in {SECONDS:g} s, or the first loss is no number")
    over = [place for place, loss in enumerate(losses) if loss > first + CLIMB * abs(first)]
    end = over[0] if over else len(losses)
    best, climbs = int(np.argmin(losses[: max(end, 1)])), rates_tried[end] if over else math.inf
    return {
        "used": used, "best": rates_tried[best], "climbs": climbs, "of_limit": used / climbs,
        "first_loss": first, "lowest_loss": losses[best], "rates": rates_tried, "losses": losses,
    }  # fmt: skip


def judge(numbers: dict[str, Any]) -> Verdict:
    """Never fires: what it shows is where to look for a better rate."""
    shown = pick(numbers, *SHOWN)
    text = f"ten steps on one batch bring the loss down furthest at a rate of {numbers['best']:.2g}"
    if math.isfinite(numbers["climbs"]):
        text += f", and up from {numbers['climbs']:.2g} on"
    else:
        text += f", and not up at any rate to {max(numbers['rates']):.2g}"
    return Verdict("learning_rate_finder", False, f"{text}; the script used {numbers['used']:.2g}", shown)
