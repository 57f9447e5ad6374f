"""Does the loss fall from the loss of guessing, and does it come down smoothly?

One point a step, and the loss of guessing as a dotted line: ln C for a cross-entropy over C classes. The losses of the script's
own evaluations are diamonds, if they are on the same scale. Ask where the curve
begins, where it settles, and at which steps it jumps.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bugzoo.diagnostics._tools import column, need_steps
from bugzoo.diagnostics.numbers import ANY, optional
from bugzoo.plots._smoothing import comparable
from bugzoo.running.result import Run
from bugzoo.views import _draw
from bugzoo.views._seen import Seen

POINTS = 2000
"""Most points that are drawn; of more steps, every second or third is."""

ORDER = (
    "steps", "loss_curve", "initial_loss", "kept_losses", "loss_curve.final_loss", "fallen", "risen", "lowest",
    "loss_curve.peak_loss", "loss_spikes", "first_non_finite", "lost",
)  # fmt: skip


@dataclass(kw_only=True)
class Numbers(Seen):
    """`losses` at the steps `x`; `validation`: (step, loss) pairs, a list for each place; `guessing`: ln C, or NaN."""

    steps: float | None = optional("optimizer steps")
    fallen: float | None = optional("loss at the end over the first loss", (0, 0.7))
    risen: float | None = optional("loss at the end over the lowest smoothed loss")
    lowest: float | None = optional("lowest loss of a step", (0, ANY))
    lost: float | None = optional("share of steps whose loss is not finite", (0, 0))
    x: list[float] | None = None
    losses: list[float] | None = None
    validation: list[list[tuple[int, float]]] | None = None
    guessing: float | None = None


def measure(run: Run) -> Numbers:
    """The curve, thinned, and how far it falls. Raises NotApplicable without a step."""
    need_steps(run)
    loss = column(run.trace.loss)
    finite = loss[np.isfinite(loss)]
    every = -(-len(loss) // POINTS)
    numbers = Numbers(
        steps=float(len(loss)),
        lost=1 - len(finite) / len(loss),
        x=[float(step) for step in column(run.trace.step)[::every]],
        losses=loss[::every].tolist(),
        validation=[curve.points for curve in run.trace.validation],
        guessing=math.log(classes) if (classes := run.trace.graph.classes or 0) > 1 else math.nan,
    )
    if not len(finite):
        return numbers
    tenth, width = max(1, len(finite) // 10), min(len(finite), max(2, len(finite) // 20))
    end, lowest = float(finite[-tenth:].mean()), float(np.convolve(finite, np.ones(width) / width, "valid").min())
    numbers.lowest = float(finite.min())
    if finite[0] > 0:
        numbers.fallen = end / float(finite[0])
    if lowest > 0:
        numbers.risen = max(1.0, end / lowest)
    return numbers


def draw(numbers: Numbers, figure: Any) -> None:
    """Draw the loss over the steps, the loss of guessing, and the first step that is not finite."""
    ax = _draw.axes(figure, "optimizer step", "loss")
    if not _draw.line(ax, numbers.x or [], numbers.losses or [], "each step"):
        _draw.absent(ax, "no step has a finite loss")
        return
    for number, curve in enumerate(comparable(numbers.validation or (), numbers.losses or ())):
        steps, losses = zip(*curve, strict=True)
        style = {"color": _draw.THIS_RUN, "linestyle": "--", "linewidth": 1, "marker": "D", "markersize": 5}
        ax.plot(steps, losses, **style, label=None if number else "its evaluations", zorder=4)
    if numbers.guessing is not None and math.isfinite(numbers.guessing):
        _draw.reference(ax, numbers.guessing, "guessing: ln C")
    lost = numbers.instruments.get("first_non_finite.loss_step")
    if isinstance(lost, float) and lost > 0:
        _draw.mark(ax, lost, f"not finite from step {lost:.0f} on")
    _draw.end_labels(ax)
