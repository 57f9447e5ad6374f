"""Several trainings on one batch: where does the loss end? Above the line, the training step is broken or too slow.

Read it from the right: a working step is far below the line. One that stays at its first loss moves no tensor that the
loss depends on; one that falls slowly moves too few of them, or too little.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from bugzoo.plots import _style, lines
from bugzoo.plots._labels import end_labels
from bugzoo.plots._palette import INK


def picture(curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], limit: float = 0.01) -> Any:
    """Return the figure. `curves`: name -> (steps, losses in nats); `limit`: the loss that a working step gets below."""
    figure = _style.figure(3.6)
    ax = figure.add_subplot()
    _style.prepare(ax, "", "optimizer step on the same batch", "loss (nats)")
    ax.set_yscale("log")
    lines.draw(ax, curves)
    top = max((loss for _, losses in curves.values() for loss in losses if math.isfinite(loss)), default=1.0)
    ax.set_ylim(min(ax.get_ylim()[0], limit / 3), 2 * top)
    ax.axhspan(limit, 2 * top, color=INK, alpha=0.13, linewidth=0)
    text, place = f"  stop everything: still above {limit:g}", (0, limit)
    ax.annotate(text, place, xycoords=ax.get_yaxis_transform(), color=INK, va="bottom", fontsize=_style.TEXT)
    end_labels(ax)
    return figure
