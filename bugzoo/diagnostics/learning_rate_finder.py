"""At which rate do ten steps bring the loss down furthest, and from which one on do they bring it up?

The loop's own body on the first step's batch, ten times, from the weights that the training began with: at the script's own
rate, at a thousandth of it, at a thousand times it, and at seven rates in between. At the low end nothing moves; then
the loss comes down further and further; behind the lowest point each step overshoots, and in the end ten of them leave it higher
than it was. Take a third to a tenth of the rate at which that begins. It accuses nobody: batches differ, a warm-up bears more,
and a long training wants less.
"""

import math
import time
from typing import Any

import numpy as np
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, interleaved, live, pick
from bugzoo.diagnostics.verdict import NotApplicable, Verdict
from bugzoo.errors import UserError
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
    kept = live(run)
    if kept.by_heart is None:
        raise NotApplicable("needs the live loop; this trace has numbers only")
    if interleaved(run.trace) > 1:
        raise NotApplicable("optimisers take turns: there is no single rate to look for")
    rates = column(run.trace.learning_rate)
    used = float(np.nanmax(rates)) if len(rates) and np.isfinite(rates).any() else 0.0
    if used <= 0:
        raise NotApplicable("no rate above 0 was seen")
    begun, first, rates_tried, losses = time.thread_time(), math.nan, list[float](), list[float]()
    for factor in FACTORS:
        left = SECONDS - (time.thread_time() - begun)
        found = _losses(kept, used * factor, left) if left > 0 else np.empty(0)
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


def _losses(kept: Any, rate: float, seconds: float) -> np.ndarray:
    """(at most STEPS + 1,) losses, each before its step, all of them at this rate. Raises NotApplicable."""
    before: list[Any] = []

    def put(optimizer: Any, args: Any, kwargs: Any) -> None:
        before[:] = [group["lr"] for group in optimizer.param_groups]
        highest = max(max(float(one) for one in before), 1e-30)
        for group in optimizer.param_groups:  # groups keep their proportions
            group["lr"] = group["lr"] * (rate / highest)

    def back(optimizer: Any, args: Any, kwargs: Any) -> None:
        for group, old in zip(optimizer.param_groups, before, strict=True):
            group["lr"] = old

    hooks = [register_optimizer_step_pre_hook(put), register_optimizer_step_post_hook(back)]
    try:
        return column(kept.by_heart(STEPS + 1, seconds, -1.0).losses)
    except UserError as why:
        raise NotApplicable(str(why)) from None
    finally:
        for hook in hooks:
            hook.remove()


def judge(numbers: dict[str, Any]) -> Verdict:
    """Never fires: what it shows is where to look for a better rate."""
    shown = pick(numbers, *SHOWN)
    text = f"ten steps on one batch bring the loss down furthest at a rate of {numbers['best']:.2g}"
    if math.isfinite(numbers["climbs"]):
        text += f", and up from {numbers['climbs']:.2g} on"
    else:
        text += f", and not up at any rate to {max(numbers['rates']):.2g}"
    return Verdict("learning_rate_finder", False, f"{text}; the script used {numbers['used']:.2g}", shown)
