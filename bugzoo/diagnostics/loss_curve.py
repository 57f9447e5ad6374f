"""Does the loss fall and settle, or does it plateau, diverge, oscillate or stay at chance?

The pattern has a name. Healthy: the loss falls and settles. Still falling: training stopped early. Plateau: it falls a little,
then no further. Stuck at chance: it never leaves ln C. Divergence: it ends above its start, or is no longer finite.
Oscillation: it swings without falling. Spike: it jumps up and comes back (often one bad batch). Cliff: it jumps up and stays.
The curve alone names few causes: with a learning rate of zero, dead units, zero weights or shuffled labels the loss stays at
ln C. Update size, share of zero activations and gradient size tell these apart, so they are measured here too. Without one of
these reasons the pattern is named, and no suspect.
"""

import math
from typing import Any

import numpy as np

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, interleaved, median, need_steps, pick
from bugzoo.diagnostics.verdict import Suspect, Verdict
from bugzoo.running.result import Run
from bugzoo.watching.records import STATISTICS

COST = 0
SHOWN = {
    "first_loss": ("loss of the first step", ""),
    "final_loss": ("loss at the end, mean of the last finite tenth", ""),
    "best_loss": ("lowest smoothed loss", "the final loss"),
    "peak_loss": ("highest loss of a step", ""),
    "chance": ("loss of guessing, ln C (nats)", ""),
    "steps": ("optimizer steps", ""),
}
KNOWN_PROBLEMS = (
    "A false positive for a policy gradient through log_softmax whose loss falls below zero: it is taken for a "
    "cross-entropy. "
    "It names a plateau, a spike or an oscillation without firing, and says nothing below 8 steps."
)
HEALTHY = example()
SICK = example(("lr=1e-2", "lr=10.0"))


def _smooth(loss: np.ndarray, width: int) -> np.ndarray:
    return np.convolve(loss, np.ones(width) / width, mode="valid") if len(loss) >= width else loss


def _main_losses(trace: Any) -> tuple[np.ndarray, int]:
    """Losses of the optimizer with most steps, and the number of optimizers that take turns."""
    loss, optimizer = column(trace.loss), column(trace.optimizer)
    kinds, counts = np.unique(optimizer[np.isfinite(optimizer)], return_counts=True)
    if len(kinds) <= 1 or len(optimizer) != len(loss):
        return loss, max(1, len(kinds))
    return loss[optimizer == kinds[counts.argmax()]], interleaved(trace)


def measure(run: Run) -> dict[str, Any]:
    """Losses in nats (or the loss's own unit), steps counted from 1. Raises NotApplicable below 8 steps."""
    trace = run.trace
    need_steps(run, 8)
    loss, optimizers = _main_losses(trace)
    finite = loss[np.isfinite(loss)]
    numbers: dict[str, Any] = {"steps": float(len(loss)), "optimizers": float(optimizers)}
    numbers["non_finite_share"] = 1.0 - len(finite) / len(loss)
    if len(finite) < 4:
        return numbers | {"diverged": 1.0, "stuck_at_chance": 0.0, "pattern": "divergence"}
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
    blown = numbers["non_finite_share"] > 0 and peak > 3 * head > 0
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
    worst = int(np.nanargmax(np.abs(np.diff(finite)))) + 2
    numbers |= {
        "first_loss": head,
        "final_loss": tail,
        "best_loss": best,
        "peak_loss": float(finite.max()),
        "chance": chance,
        "diverged": float(diverged),
        "stuck_at_chance": float(stuck),
        "noise": spread,
        "falling": falling,
        "largest_jump_step": float(worst),
        "largest_jump": float(np.abs(np.diff(finite)).max()),
        "update_ratio": median(update),
        "largest_update": largest,
        "falls_below_zero": float(not math.isnan(chance) and tail < -0.8 * chance and tail <= head),
        "learning_rate": median(trace.learning_rate),
        "grad_norm": median(trace.grad_norm),
        "dead_share": dead,
        "still_zero_share": _zero_weights(trace),
    }
    return numbers | {"pattern": _name(numbers, finite)}


def _zero_weights(trace: Any) -> float:
    """Share of the trainable weight matrices that are exactly zero, early and late."""
    sizes = np.asarray(trace.param_norm, dtype=np.float64)
    matrices = [i for i, p in enumerate(trace.parameters) if len(p.shape) >= 2 and p.trainable]
    if sizes.ndim != 2 or len(sizes) < 2 or not matrices or sizes.shape[1] != len(trace.parameters):
        return 0.0
    return float((sizes[:, matrices] == 0).all(axis=0).mean())


def _name(numbers: dict[str, Any], loss: np.ndarray) -> str:
    head, tail, best = numbers["first_loss"], numbers["final_loss"], numbers["best_loss"]
    if numbers["diverged"]:
        return "divergence"
    if numbers["non_finite_share"]:
        return "cliff into nan"
    if numbers["stuck_at_chance"]:
        return "stuck at chance"
    jump = numbers["largest_jump"]
    if jump > 6 * (np.median(np.abs(np.diff(loss))) + 1e-12) and jump > 0.5 * abs(head):
        at = int(numbers["largest_jump_step"]) - 1
        return "cliff" if np.median(loss[at:]) > np.median(loss[:at]) + 0.5 * jump else "spike"
    swings = np.sign(np.diff(loss))
    back_and_forth = float((swings[1:] * swings[:-1] < 0).mean())
    if back_and_forth > 0.85 and tail > 0.8 * head:
        return "oscillation"
    if head - best < 0.05 * abs(head):
        return "plateau"
    if numbers["falling"] > 0.05 * abs(head):
        return "still falling"
    return "healthy"


def _stuck_suspects(numbers: dict[str, Any]) -> list[Suspect]:
    where = f"the loss stays at {numbers['final_loss']:.3g}, and guessing gives ln C = {numbers['chance']:.3g}"
    update, gradient = numbers["update_ratio"], numbers["grad_norm"]
    if numbers.get("still_zero_share", 0.0) > 0.4:
        text = f"{where}; {numbers['still_zero_share']:.0%} of the weight matrices are exactly zero and stay zero"
        return [Suspect("initialisation/zero_weights", 0.85, text)]
    if gradient < 1e-9:
        return [Suspect("initialisation/zero_weights", 0.6, f"{where}; the gradient is zero ({gradient:.1g})")]
    if update < 1e-6:
        text = f"{where}; one update changes the parameters by {update:.1g} of their size (usually about 1e-3)"
        return [Suspect("optimizer/lr_too_low", 0.7, text)]
    if numbers["dead_share"] > 0.98:
        text = f"{where}; {numbers['dead_share']:.0%} of a layer's outputs are zero"
        lr_high = update > 0.03
        return [Suspect("optimizer/lr_too_high" if lr_high else "initialisation/dead_relu", 0.6, text)]
    if update > 0.1:
        return [
            Suspect(
                "optimizer/lr_too_high", 0.6, f"{where}; an update changes parameters by {update:.0%} of their size"
            )
        ]
    return []


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires on divergence, and on a loss stuck at chance for which update, gradient or activations give a reason."""
    shown = pick(numbers, "first_loss", "final_loss", "best_loss", "peak_loss", "diverged", "stuck_at_chance")
    pattern = numbers["pattern"]
    if numbers.get("falls_below_zero"):
        text = (
            f"a cross-entropy is never negative, but this one falls to {numbers['final_loss']:.3g}: its sign is flipped"
        )
        return Verdict("loss_curve", True, text, shown, (Suspect("loss/sign_flipped", 0.95, text),))
    if numbers["diverged"]:
        if "final_loss" not in numbers:
            text = "the loss is not finite from the first steps on"
            return Verdict("loss_curve", True, f"divergence: {text}", shown)
        update = numbers.get("largest_update", math.nan)
        text = (
            f"the loss goes from {numbers['first_loss']:.3g} to {numbers['peak_loss']:.3g} and ends at "
            f"{numbers['final_loss']:.3g}; an early update is {update:.2g} "
            "of the parameters' size (usually 1e-3 to 1e-2)"
        )
        score = 0.85 if update > 0.1 else 0.5
        return Verdict(
            "loss_curve", True, f"divergence: {text}", shown, (Suspect("optimizer/lr_too_high", score, text),)
        )
    if numbers["stuck_at_chance"]:
        suspects = _stuck_suspects(numbers)
        text = suspects[0].reason if suspects else "the loss stays at chance; the curve alone does not say why"
        return Verdict("loss_curve", bool(suspects), f"stuck at chance: {text}", shown, tuple(suspects))
    text = f"{pattern}: from {numbers['first_loss']:.3g} to {numbers['final_loss']:.3g} in {numbers['steps']:.0f} steps"
    return Verdict("loss_curve", False, text, shown)
