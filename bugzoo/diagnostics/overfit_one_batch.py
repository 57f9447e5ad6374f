"""Can the script's own training step overfit one batch?

The training loop's body runs again and again on its first batch, from the initial weights, with the script's own loss, optimizer
and learning rate. A healthy step brings the loss down to a small part of its first value. A loss that plateaus far above zero
has a floor that no training gets below. A loss that does not move has no gradient, no update, or too low a learning rate.
If the step can overfit one batch and training still goes wrong, look at the data and at what happens between batches.
"""

import math
from dataclasses import dataclass

import numpy as np

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import batches, column, interleaved, model_of
from bugzoo.diagnostics.conditions import Alarm, above, below, measured
from bugzoo.diagnostics.numbers import Measured, judges, number
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.body import repeat
from bugzoo.running.result import Run

COST = 1
VIEW = "one_batch"
TITLE = "Training on one batch"
TRAINS = True  # the slowest to measure: a grader runs it on the first seed only
KNOWN_PROBLEMS = (
    "A false positive for soft targets, as in mixup or distillation, whose entropy keeps the loss above half of its "
    "first value. "
    "It misses a plateau below that half, needs 40 steps in 6 s, and says nothing about optimizers that take turns."
)
HEALTHY = example()
SICK = example(("F.cross_entropy(logits, targets[rows])", "F.cross_entropy(logits.softmax(-1), targets[rows])"))
STEPS, SECONDS = 300, 6.0
ENOUGH = 0.1
"""Part of the first loss at which the repetition stops: more steps could not change what `judge` says."""
POINTS = 40
"""Points of the curve that are kept for the plot."""
LEAST = 40
"""Fewest steps after which a loss that is still high means something."""
LOWER = 0.8
"""Where training itself reached less than this part of the loss here, the loss here is not a floor."""


@dataclass(kw_only=True)
class Numbers(Measured):
    """Losses in the loss's own unit; (points,) repetitions, counted from 1, and the losses there."""

    steps: float = number("steps on the batch")
    first_loss: float = number("first loss on the batch")
    best_loss: float = number("lowest loss on the batch")
    ratio: float = number("lowest loss over the first", (0, 0.5))
    highest_loss: float = number("highest loss on the batch")
    late_fall: float
    lost_step: float
    repetitions: list[float]
    losses: list[float]
    training_loss: float


unmoved = above("ratio", 0.9)
flat = unmoved | below("late_fall", 0.05)
"""A loss that falls by less than this part of the first one over the last third of the steps plateaus."""
unlearned = above("ratio", 0.5) | ~measured("ratio")
non_finite = Alarm(
    above("lost_step", 1) & above("ratio", ENOUGH),
    "The training step ran up to {steps:.0f} times on one batch. The loss is not finite from step {lost_step:.0f} on.",
    "The loss should stay finite.",
)
plateau = Alarm(
    ~below("steps", LEAST) & flat & unlearned,
    "The training step ran {steps:.0f} times on one batch. The loss goes from {first_loss:.3g} to {best_loss:.3g} at "
    "best.",
    "At most half of the first loss passes.",
)
ALARMS = (non_finite, plateau)


def measure(run: Run) -> Numbers:
    """Losses of the repetitions: first, best, their ratio, fall over the last third. Raises NotApplicable."""
    if interleaved(run.trace) > 1:
        raise NotApplicable("optimizers take turns: there is no single loss that has to fall")
    batch = batches(run)[0]
    trainable = sum(p.numel() for p in model_of(run, batch).parameters() if p.requires_grad)
    if batch.targets is not None and trainable < batch.targets.numel():
        raise NotApplicable(f"{trainable} trainable numbers may be too few to memorize {batch.targets.numel()} targets")
    repeated = repeat(run, STEPS, SECONDS, ENOUGH)
    losses = _at_full_rate(column(repeated.losses), column(repeated.rates))
    if repeated.error and len(losses) < LEAST:
        raise NotApplicable(f"the loop's body cannot run again ({repeated.error})")
    if len(losses) < 2:
        raise NotApplicable("the loop's body made no optimizer step when it ran again")
    return of_losses(losses, _end(column(run.trace.loss)))


def _end(losses: np.ndarray) -> float:
    """Of the training itself: median over the last tenth of its finite losses, which a few easy batches do not move."""
    finite = losses[np.isfinite(losses)]
    return float(np.median(finite[-max(1, len(finite) // 10) :])) if len(finite) else math.nan


def _at_full_rate(losses: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Without the steps after the end of a schedule, which were never meant to learn anything."""
    top = np.maximum.accumulate(np.nan_to_num(rates))
    over = np.flatnonzero(rates < 0.05 * top)
    return losses[: over[0]] if len(over) else losses


def of_losses(losses: np.ndarray, training_loss: float = math.nan) -> Numbers:
    """Of the (steps,) losses. Raises NotApplicable where the first one is not a positive number."""
    lost = np.flatnonzero(~np.isfinite(losses))
    finite = losses[: lost[0]] if len(lost) else losses
    if not len(finite) or finite[0] <= 0:
        raise NotApplicable("the loss on the batch does not start at a positive number, so a ratio means nothing")
    first, best = float(finite[0]), float(finite.min())
    places = np.unique(np.linspace(0, len(finite) - 1, min(len(finite), POINTS)).astype(int))
    early = finite[: max(1, len(finite) * 2 // 3)]
    return Numbers(
        steps=float(len(finite)),
        first_loss=first,
        best_loss=best,
        ratio=best / first,
        highest_loss=float(finite.max()),
        late_fall=float(early.min() - best) / first,
        lost_step=float(lost[0] + 1) if len(lost) else math.nan,
        repetitions=[float(place + 1) for place in places],
        losses=[float(finite[place]) for place in places],
        training_loss=training_loss,
    )


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires when the loss plateaus above half of its first value, hardly moves, or is no longer finite."""
    first, best = numbers.first_loss, numbers.best_loss
    text = f"the script's own step, {numbers.steps:.0f} times on its first batch: loss {first:.3g} -> {best:.3g}"
    suspects: tuple[Suspect, ...] = ()
    if non_finite(numbers):
        text += f", not finite from step {numbers.lost_step:.0f} on"
    elif not plateau(numbers) or numbers.training_loss < LOWER * best:
        pass
    elif numbers.highest_loss > 2 * first:
        text += f", up to {numbers.highest_loss:.3g} in between: the steps overshoot"
        suspects = (Suspect("optimizer/lr_too_high", 0.4, text),)
    elif unmoved(numbers):
        text += ": this step cannot overfit even one batch"
        suspects = (Suspect("initialisation/dead_relu", 0.3, text), Suspect("optimizer/lr_too_low", 0.25, text))
    else:
        text += ", where it plateaus: a floor that not even one batch gets below"
        suspects = (Suspect("loss/double_softmax", 0.3, text), Suspect("fit/capacity_too_small", 0.25, text))
    return Verdict("overfit_one_batch", non_finite(numbers) or bool(suspects), text, numbers.labeled(), suspects)
