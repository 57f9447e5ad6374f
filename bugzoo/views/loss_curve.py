"""Does the loss fall from the loss of guessing, and does it come down smoothly?

One point a step, and the loss of guessing as a dotted line: ln C for a cross-entropy over C classes. The losses of the script's
own evaluations are diamonds, if they are on the same scale. Ask where the curve
begins, where it settles, and at which steps it jumps.
"""

import math
from typing import Any

import numpy as np

from bugzoo.diagnostics._tools import column, need_steps
from bugzoo.plots._smoothing import comparable
from bugzoo.running.result import Run
from bugzoo.views import _draw
from bugzoo.views.row import ANY, Row

POINTS = 2000
"""Most points that are drawn; of more steps, every second or third is."""

ROWS = (
    Row("steps", "optimizer steps"),
    Row("loss_curve.first_loss", "loss of the first step"),
    Row("loss_curve.chance", "loss of guessing, ln C (nats)"),
    Row("initial_loss.ratio", "first loss over the loss of guessing", (0, 3)),
    Row("kept_losses.ratio", "first loss that the script records, over the loss of guessing", (0.2, 5)),
    Row("loss_curve.final_loss", "loss at the end, mean of the last finite tenth"),
    Row("fallen", "loss at the end over the first loss", (0, 0.7)),
    Row("risen", "loss at the end over the lowest smoothed loss"),
    Row("lowest", "lowest loss of a step", (0, ANY)),
    Row("loss_curve.peak_loss", "highest loss of a step"),
    Row("loss_spikes.height", "highest loss above its neighbors, in median distances"),
    Row("loss_spikes.step", "step of the loss highest above its neighbors"),
    Row("loss_spikes.times", "loss highest above its neighbors, over their median"),
    Row("loss_spikes.spikes", "steps 20 median distances above all others around them", (0, 0)),
    Row("first_non_finite.loss_step", "first step whose loss is not finite"),
    Row("lost", "share of steps whose loss is not finite", (0, 0)),
)


def measure(run: Run) -> dict[str, Any]:
    """The curve, thinned, and how far it falls. Raises NotApplicable without a step."""
    need_steps(run)
    loss = column(run.trace.loss)
    finite = loss[np.isfinite(loss)]
    numbers: dict[str, Any] = {"steps": float(len(loss)), "lost": 1 - len(finite) / len(loss)}
    every = -(-len(loss) // POINTS)
    numbers |= {"x": [float(step) for step in column(run.trace.step)[::every]], "losses": loss[::every].tolist()}
    numbers["validation"] = [one.points for one in run.trace.validation]
    numbers["guessing"] = math.log(classes) if (classes := run.trace.graph.classes or 0) > 1 else math.nan
    if not len(finite):
        return numbers
    tenth, width = max(1, len(finite) // 10), min(len(finite), max(2, len(finite) // 20))
    end, lowest = float(finite[-tenth:].mean()), float(np.convolve(finite, np.ones(width) / width, "valid").min())
    numbers["lowest"] = float(finite.min())
    if finite[0] > 0:
        numbers["fallen"] = end / float(finite[0])
    if lowest > 0:
        numbers["risen"] = max(1.0, end / lowest)
    return numbers


def draw(numbers: dict[str, Any], figure: Any) -> None:
    """Draw the loss over the steps, the loss of guessing, and the first step that is not finite."""
    ax = _draw.axes(figure, "optimizer step", "loss")
    if not _draw.line(ax, numbers.get("x", []), numbers.get("losses", []), "this run"):
        _draw.absent(ax, "no step has a finite loss")
        return
    for number, curve in enumerate(comparable(numbers.get("validation", ()), numbers["losses"])):
        steps, losses = zip(*curve, strict=True)
        style = {"color": _draw.COLOURS[1], "linestyle": "--", "linewidth": 1, "marker": "D", "markersize": 5}
        ax.plot(steps, losses, **style, label=None if number else "its evaluations", zorder=4)
    guessing = numbers.get("guessing", math.nan)
    if math.isfinite(guessing):
        ax.axhline(guessing, color=_draw.GREY, linestyle=":", linewidth=1.2, label="guessing: ln C")
    lost = numbers.get("first_non_finite.loss_step")
    if isinstance(lost, float) and lost > 0:
        ax.axvline(lost, color=_draw.COLOURS[4], linestyle="-.", label=f"not finite from step {lost:.0f} on")
    _draw.legend(ax)
