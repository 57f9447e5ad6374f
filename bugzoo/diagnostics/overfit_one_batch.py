"""Can the program's own step learn one batch by heart?

The training loop's body is run again and again on its first batch, from the weights that the training began with: the
program's own loss, its own update, its own rate. A healthy step brings the loss down to a part of where it began. A loss
that stops far above zero is a floor that no training gets below; one that does not move has no gradient, no update, or
too small a rate. If one batch can be learnt and the training still goes wrong, look at the data and at what happens
between the batches.
"""

import math
from typing import Any

import numpy as np

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import batches, column, interleaved, model_of, pick
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.body import repeat
from bugzoo.running.result import Run

COST = 1
TRAINS = True  # most of what measuring takes: a grader asks it on the first seed, how well it learns on each
SHOWN = {
    "first_loss": ("loss on one batch, at first", ""),
    "best_loss": ("lowest loss on that batch", ""),
    "ratio": ("the second over the first", "below 0.1, and there it stops"),
    "steps": ("steps on that batch", ""),
}
HEALTHY = example()
SICK = example(("F.cross_entropy(logits, targets[rows])", "F.cross_entropy(logits.softmax(-1), targets[rows])"))
STEPS, SECONDS = 300, 6.0
ENOUGH = 0.1
"""Part of the first loss at which the question is answered; more steps could not change what `judge` says."""
POINTS = 40
"""Of the curve that is kept for the picture."""
LEAST = 40
"""Steps below which nothing is said of a loss that is still high."""
LEARNT, FLAT, STILL = 0.5, 0.05, 0.9
"""Parts of the first loss: below the first the batch is being learnt; who falls by less than the second over the last
third of the steps stands still; above the third nothing was learnt."""
LOWER = 0.8
"""The training itself came to less than this part of the loss here: whatever held it up here is no floor."""


def measure(run: Run) -> dict[str, Any]:
    """Losses of the repetitions: first, best, their ratio, fall over the last third. Raises NotApplicable."""
    if interleaved(run.trace) > 1:
        raise NotApplicable("optimisers take turns: there is no single loss that has to fall")
    batch = batches(run)[0]
    trainable = sum(p.numel() for p in model_of(run, batch).parameters() if p.requires_grad)
    if batch.targets is not None and trainable < batch.targets.numel():
        raise NotApplicable(
            f"{trainable} trainable numbers need not be able to learn {batch.targets.numel()} targets by heart"
        )
    found = repeat(run, STEPS, SECONDS, ENOUGH)
    losses = _at_full_rate(column(found.losses), column(found.rates))
    if found.error and len(losses) < LEAST:
        raise NotApplicable(f"the loop's body cannot be run again ({found.error})")
    if len(losses) < 2:
        raise NotApplicable("no optimiser step was made when the loop's body was run again")
    return numbers(losses) | {"training_loss": _end(column(run.trace.loss))}


def _end(losses: np.ndarray) -> float:
    """The training's own: median over the last tenth of its finite losses, which a few easy batches do not move."""
    finite = losses[np.isfinite(losses)]
    return float(np.median(finite[-max(1, len(finite) // 10) :])) if len(finite) else math.nan


def _at_full_rate(losses: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Without the steps behind the end of a schedule, which were never meant to learn anything."""
    top = np.maximum.accumulate(np.nan_to_num(rates))
    over = np.flatnonzero(rates < 0.05 * top)
    return losses[: over[0]] if len(over) else losses


def numbers(losses: np.ndarray) -> dict[str, Any]:
    """Of the (steps,) losses. Raises NotApplicable where the first one is no positive number."""
    lost = np.flatnonzero(~np.isfinite(losses))
    finite = losses[: lost[0]] if len(lost) else losses
    if not len(finite) or finite[0] <= 0:
        raise NotApplicable(
            "the loss on the batch does not begin at a positive number, so that a part of it says nothing"
        )
    first, best = float(finite[0]), float(finite.min())
    shown = np.unique(np.linspace(0, len(finite) - 1, min(len(finite), POINTS)).astype(int))
    early = finite[: max(1, len(finite) * 2 // 3)]
    return {
        "first_loss": first, "best_loss": best, "ratio": best / first, "steps": float(len(finite)),
        "late_fall": float(early.min() - best) / first, "lost_step": float(lost[0] + 1) if len(lost) else math.nan,
        "highest_loss": float(finite.max()), 
        "repetitions": [float(place + 1) for place in shown], "losses": [float(finite[place]) for place in shown],
    }  # fmt: skip


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires when the loss stands still above half of where it began, has hardly moved, or is no number any more."""
    shown = pick(numbers, "first_loss", "best_loss", "ratio", "steps")
    first, best, steps = numbers["first_loss"], numbers["best_loss"], numbers["steps"]
    text = f"the first batch, {steps:.0f} times by the program's own step: loss {first:.3g} -> {best:.3g}"
    lost, usual = numbers.get("lost_step", math.nan), numbers.get("training_loss", math.nan)
    if lost > 1 and numbers["ratio"] > ENOUGH:
        text += f", and no number from step {lost:.0f} on"
        return Verdict("overfit_one_batch", True, text, shown)
    flat = numbers["ratio"] > STILL or numbers.get("late_fall", 0.0) < FLAT
    if steps < LEAST or numbers["ratio"] <= LEARNT or not flat or usual < LOWER * best:
        return Verdict("overfit_one_batch", False, text, shown)
    if numbers.get("highest_loss", first) > 2 * first:
        text += f", and {numbers['highest_loss']:.3g} in between: each step throws it back"
        suspects = [Suspect("optimizer/lr_too_high", 0.4, text)]
    elif numbers["ratio"] > STILL:
        text += ": this step cannot learn even one batch"
        suspects = [Suspect("initialisation/dead_relu", 0.3, text), Suspect("optimizer/lr_too_low", 0.25, text)]
    else:
        text += ", where it stands still: a floor that not even one batch gets below"
        suspects = [Suspect("loss/double_softmax", 0.3, text), Suspect("fit/capacity_too_small", 0.25, text)]
    return Verdict("overfit_one_batch", True, text, shown, tuple(suspects))
