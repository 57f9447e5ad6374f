"""Several trainings on one batch: where does the loss end? Above the line, the training step is broken or too slow.

Read it from the right: a working step is far below the line. One that stays at its first loss moves no tensor that the
loss depends on; one that falls slowly moves too few of them, or too little.
"""

import math
from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from bugzoo.plots import _style

COLOURS = (_style.SKY, _style.RED, _style.ORANGE, _style.GREEN, _style.PURPLE)
LINES = ("-", "--", "-.", (0, (1, 1)), (0, (5, 1, 1, 1, 1, 1)))


def picture(curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], limit: float = 0.01) -> Figure:
    """Return the figure. `curves`: name -> (steps, losses in nats); `limit`: the loss that a working step gets below."""
    figure = Figure(figsize=(8, 4), layout="constrained")
    ax = figure.add_subplot()
    _style.prepare(ax, "", "optimizer step on the same batch", "loss (nats)")
    ax.set_yscale("log")
    for (name, (steps, losses)), colour, line in zip(curves.items(), COLOURS, LINES, strict=False):
        points = [loss if loss > 0 and math.isfinite(loss) else math.nan for loss in losses]
        ax.plot(steps, points, color=colour, linestyle=line, linewidth=1.8, label=name)
    top = max((loss for _, losses in curves.values() for loss in losses if math.isfinite(loss)), default=1.0)
    ax.set_ylim(top=2 * top)
    last = max((steps[-1] for steps, _ in curves.values() if len(steps)), default=1)
    ax.axhspan(limit, 2 * top, color=_style.GREY, alpha=0.13, linewidth=0)
    text = f"stop everything: still above {limit:g} "
    ax.text(last, limit, text, color=_style.GREY, ha="right", va="bottom", fontsize=9)
    ax.legend(frameon=False, labelcolor=_style.GREY, fontsize=9, loc="lower left")
    return figure
