"""Five losses beside each other, on one scale: which of them is another kind of curve?

One panel a run, with its number. The scale is the same everywhere, from the lowest loss to the highest: compare the heights,
then the slopes. The loss of guessing is a dotted line.
"""

import math
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from bugzoo.plots import _style
from bugzoo.plots._palette import INK, SERIES
from bugzoo.plots._style import absent, prepare

ROOM = 0.06
"""Room below the lowest loss and above the highest, as a share of their distance."""


def picture(curves: Sequence[Sequence[float]], labels: Sequence[str] = (), guessing: float = math.nan) -> Any:
    """Return the figure of several losses, one a step. `labels`: titles of the panels instead of "run 1" and so on.

    `guessing`: the loss of guessing in nats, NaN where it is not known.
    """
    figure = _style.figure(2.0)
    panels: Any = figure.subplots(1, len(curves), sharex=True, sharey=True, squeeze=False)[0]
    finite = [value for curve in curves for value in curve if np.isfinite(value)]
    for place, (ax, curve) in enumerate(zip(panels, curves, strict=True)):
        losses = np.asarray(curve, dtype=np.float64)
        title = textwrap.fill(labels[place], 60 // len(curves)) if labels else f"run {place + 1}"
        prepare(ax, title, "optimizer step", "" if place else "loss")
        if not np.isfinite(losses).any():
            absent(ax, "no finite loss")
            continue
        steps = np.arange(1, len(losses) + 1)
        ax.plot(steps, losses, color=SERIES[0], linewidth=1.4)
        ax.grid(axis="y", color=INK, alpha=0.25, linewidth=0.6)
        if math.isfinite(guessing):
            ax.axhline(guessing, color=INK, linestyle=":", linewidth=1.2)
    if finite:
        low, high = min(finite), max(finite)
        room = ROOM * (high - low or 1.0)
        panels[0].set_ylim(low - room, high + room)
    return figure
