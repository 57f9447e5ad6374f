"""Does the loss fall and settle, or does it plateau, diverge, oscillate or stay at chance?

The pattern has a name. Healthy: the loss falls and settles. Still falling: training stopped early. Plateau: it falls a little,
then no further. Stuck at chance: it never leaves ln C. Divergence: it ends above its start, or is no longer finite.
Oscillation: it swings without falling. Spike: it jumps up and comes back (often one bad batch). Cliff: it jumps up and stays.
The curve alone names few causes: with a learning rate of zero, dead units, zero weights or shuffled labels the loss stays at
ln C. Update size, share of zero activations and gradient size tell these apart, so they are measured here too. Without one of
these reasons the pattern is named, and no suspect.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, interleaved, median, need_steps
from bugzoo.diagnostics.conditions import Alarm, above, below
from bugzoo.diagnostics.numbers import FLAG, OWN, Measured, judges, number, optional
from bugzoo.diagnostics.verdict import Suspect, Verdict
from bugzoo.running.result import Run
from bugzoo.watching.records import STATISTICS

COST = 0
VIEW = "loss_curve"
TITLE = "Loss curve"
KNOWN_PROBLEMS = (
    "A false positive for a policy gradient through log_softmax whose loss falls below zero: it is taken for a "
    "cross-entropy. "
    "It names a plateau, a spike or an oscillation without firing, and says nothing below 8 steps."
)
HEALTHY = example()
SICK = example(("lr=1e-2", "lr=10.0"))


@dataclass(kw_only=True)
class Numbers(Measured):
    """Losses in nats, or in the loss's own unit; with fewer than four finite ones, only what every run has."""

    first_loss: float | None = optional("loss of the first step")
    chance: float | None = optional("loss of guessing, ln C (nats)")
    final_loss: float | None = optional("loss at the end, mean of the last finite tenth")
    peak_loss: float | None = optional("highest loss of a step")
    best_loss: float | None = optional(
        "lowest smoothed loss", "the final loss", hidden="the ratio of the end to it stands there"
    )
    steps: float = number("optimizer steps", hidden=OWN)
    diverged: float = number(hidden=FLAG)
    falls_below_zero: float | None = optional(hidden=FLAG)
    optimizers: float
    non_finite_share: float
    stuck_at_chance: float = number(hidden=FLAG)
    noise: float | None = None
    falling: float | None = None
    largest_jump_step: float | None = None
    largest_jump: float | None = None
    update_ratio: float | None = None
    largest_update: float | None = None
    learning_rate: float | None = None
    grad_norm: float | None = None
    dead_share: float | None = None
    still_zero_share: float | None = None
    pattern: str


_CURVE = (
    "The loss was recorded at every step. It starts at {first_loss:.3g}, peaks at {peak_loss:.3g} and ends at "
    "{final_loss:.3g}."
)
at_chance = above("stuck_at_chance")
zero_weights = above("still_zero_share", 0.4)
zero_gradient = below("grad_norm", 1e-9)
tiny_updates = below("update_ratio", 1e-6)
dead_units = above("dead_share", 0.98)
large_updates = above("update_ratio", 0.1)
negative_loss = Alarm(
    above("falls_below_zero"),
    "The loss was recorded at every step. It falls to {final_loss:.3g}.",
    "A cross-entropy should not fall below 0.",
)
divergence = Alarm(above("diverged"), _CURVE, "The loss should end below its first value.")
standstill = Alarm(
    at_chance & (zero_weights | zero_gradient | tiny_updates | dead_units | large_updates),
    f"{_CURVE} The loss of guessing is {{chance:.3g}}.",
    "It should fall below the loss of guessing.",
)
ALARMS = (negative_loss, divergence, standstill)


def _smooth(loss: np.ndarray, width: int) -> np.ndarray:
    return np.convolve(loss, np.ones(width) / width, mode="valid") if len(loss) >= width else loss


def _main_losses(trace: Any) -> tuple[np.ndarray, int]:
    """Losses of the optimizer with most steps, and the number of optimizers that take turns."""
    loss, optimizer = column(trace.loss), column(trace.optimizer)
    kinds, counts = np.unique(optimizer[np.isfinite(optimizer)], return_counts=True)
    if len(kinds) <= 1 or len(optimizer) != len(loss):
        return loss, max(1, len(kinds))
    return loss[optimizer == kinds[counts.argmax()]], interleaved(trace)


def measure(run: Run) -> Numbers:
    """Losses in nats (or the loss's own unit), steps counted from 1. Raises NotApplicable below 8 steps."""
    trace = run.trace
    need_steps(run, 8)
    loss, optimizers = _main_losses(trace)
    finite = loss[np.isfinite(loss)]
    steps, non_finite_share = float(len(loss)), 1.0 - len(finite) / len(loss)
    if len(finite) < 4:
        return Numbers(
            steps=steps,
            optimizers=float(optimizers),
            non_finite_share=non_finite_share,
            diverged=1.0,
            stuck_at_chance=0.0,
            pattern="divergence",
        )
    width = max(2, len(finite) // 20)
    smooth = _smooth(finite, width)
    head, tail = float(finite[0]), float(np.mean(finite[-max(3, len(finite) // 10) :]))
    best, peak = float(smooth.min()), float(_smooth(finite, 3).max())
    spread = float(np.std(np.diff(finite)))
    classes = trace.graph.classes or 0
    chance = math.log(classes) if classes > 1 else math.nan
    update = column(trace.update_ratio)
    update = update[np.isfinite(update)]
    largest = float(update[: max(3, len(update) // 3)].max()) if len(update) else math.nan
    # a loss that may start near zero (a game, a moving target) may grow without divergence
    sure = not math.isnan(chance) or largest > 0.1
    grown = sure and tail > 1.5 * head + 0.1 and tail > 2 * best and head > 0
    never_back = sure and peak > 4 * head > 0 and tail > 0.9 * (head if math.isnan(chance) else min(head, chance))
    blown = non_finite_share > 0 and peak > 3 * head > 0
    # the first updates, each about as large as the parameters, threw the loss up, wherever it settles afterwards
    burst = float(finite[1:11].max()) > 10 * finite[0] > 0 and largest > 0.5
    diverged = bool(grown or never_back or blown or burst)
    if optimizers > 1:  # two players: the loss of one rises because the other improves
        diverged = bool(blown or tail > 1000 * abs(head) + 1000)
    third = len(finite) // 3
    falling = float(np.mean(finite[third : 2 * third]) - np.mean(finite[2 * third :])) if third >= 2 else 0.0
    noise = spread / math.sqrt(max(1, third))
    near = not math.isnan(chance) and abs(tail - chance) < 0.03 * chance and abs(best - chance) < 0.06 * chance
    stats = np.asarray(trace.module_stats, dtype=np.float64)
    zeros = stats[-1, :, STATISTICS.index("zeros")] if stats.ndim == 3 and stats.size else np.zeros(0)
    dead = float(np.nanmax(zeros)) if np.isfinite(zeros).any() else 0.0
    stuck = bool(near and len(finite) >= 20 and falling < 3 * noise)
    jumps = np.abs(np.diff(finite))
    if diverged:
        pattern = "divergence"
    elif non_finite_share:
        pattern = "cliff into nan"
    elif stuck:
        pattern = "stuck at chance"
    else:
        pattern = _name(finite, jumps, tail, best, falling)
    return Numbers(
        steps=steps,
        optimizers=float(optimizers),
        non_finite_share=non_finite_share,
        first_loss=head,
        final_loss=tail,
        best_loss=best,
        peak_loss=float(finite.max()),
        chance=chance,
        diverged=float(diverged),
        stuck_at_chance=float(stuck),
        noise=spread,
        falling=falling,
        largest_jump_step=float(jumps.argmax() + 2),
        largest_jump=float(jumps.max()),
        update_ratio=median(update),
        largest_update=largest,
        falls_below_zero=float(not math.isnan(chance) and tail < -0.8 * chance and tail <= head),
        learning_rate=median(trace.learning_rate),
        grad_norm=median(trace.grad_norm),
        dead_share=dead,
        still_zero_share=_zero_weights(trace),
        pattern=pattern,
    )


def _zero_weights(trace: Any) -> float:
    """Share of the trainable weight matrices that are exactly zero, early and late."""
    sizes = np.asarray(trace.param_norm, dtype=np.float64)
    matrices = [i for i, p in enumerate(trace.parameters) if len(p.shape) >= 2 and p.trainable]
    if sizes.ndim != 2 or len(sizes) < 2 or not matrices or sizes.shape[1] != len(trace.parameters):
        return 0.0
    return float((sizes[:, matrices] == 0).all(axis=0).mean())


def _name(loss: np.ndarray, jumps: np.ndarray, tail: float, best: float, falling: float) -> str:
    """The pattern of (n,) finite losses with (n - 1,) jumps that neither diverge nor stay at chance."""
    head, jump, at = float(loss[0]), float(jumps.max()), int(jumps.argmax()) + 1
    if jump > 6 * (np.median(jumps) + 1e-12) and jump > 0.5 * abs(head):
        return "cliff" if np.median(loss[at:]) > np.median(loss[:at]) + 0.5 * jump else "spike"
    swings = np.sign(np.diff(loss))
    back_and_forth = float((swings[1:] * swings[:-1] < 0).mean())
    if back_and_forth > 0.85 and tail > 0.8 * head:
        return "oscillation"
    if head - best < 0.05 * abs(head):
        return "plateau"
    return "still falling" if falling > 0.05 * abs(head) else "healthy"


def _stuck_suspects(numbers: Numbers) -> tuple[Suspect, ...]:
    where = f"the loss stays at {numbers.final_loss:.3g}, and guessing gives ln C = {numbers.chance:.3g}"
    update = math.nan if numbers.update_ratio is None else numbers.update_ratio
    gradient = math.nan if numbers.grad_norm is None else numbers.grad_norm
    dead, zero = numbers.dead_share or 0.0, numbers.still_zero_share or 0.0
    if zero_weights(numbers):
        text = f"{where}; {zero:.0%} of the weight matrices are exactly zero and stay zero"
        return (Suspect("initialisation/zero_weights", 0.85, text),)
    if zero_gradient(numbers):
        return (Suspect("initialisation/zero_weights", 0.6, f"{where}; the gradient is zero ({gradient:.1g})"),)
    if tiny_updates(numbers):
        text = f"{where}; one update changes the parameters by {update:.1g} of their size (usually about 1e-3)"
        return (Suspect("optimizer/lr_too_low", 0.7, text),)
    if dead_units(numbers):
        cause = "optimizer/lr_too_high" if update > 0.03 else "initialisation/dead_relu"
        return (Suspect(cause, 0.6, f"{where}; {dead:.0%} of a layer's outputs are zero"),)
    if large_updates(numbers):
        text = f"{where}; an update changes parameters by {update:.0%} of their size"
        return (Suspect("optimizer/lr_too_high", 0.6, text),)
    return ()


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires on divergence, and on a loss stuck at chance for which update, gradient or activations give a reason."""
    suspects: tuple[Suspect, ...] = ()
    if negative_loss(numbers):
        text = f"a cross-entropy is never negative, but this one falls to {numbers.final_loss:.3g}: its sign is flipped"
        suspects = (Suspect("loss/sign_flipped", 0.95, text),)
    elif divergence(numbers) and numbers.final_loss is None:
        text = "divergence: the loss is not finite from the first steps on"
    elif divergence(numbers):
        update = math.nan if numbers.largest_update is None else numbers.largest_update
        reason = (
            f"the loss goes from {numbers.first_loss:.3g} to {numbers.peak_loss:.3g} and ends at "
            f"{numbers.final_loss:.3g}; an early update is {update:.2g} "
            "of the parameters' size (usually 1e-3 to 1e-2)"
        )
        text = f"divergence: {reason}"
        suspects = (Suspect("optimizer/lr_too_high", 0.85 if update > 0.1 else 0.5, reason),)
    elif at_chance(numbers):
        suspects = _stuck_suspects(numbers)
        reason = suspects[0].reason if suspects else "the loss stays at chance; the curve alone does not say why"
        text = f"stuck at chance: {reason}"
    else:
        text = (
            f"{numbers.pattern}: from {numbers.first_loss:.3g} to {numbers.final_loss:.3g} in {numbers.steps:.0f} steps"
        )
    return Verdict("loss_curve", bool(suspects) or divergence(numbers), text, numbers.labeled(), suspects)
