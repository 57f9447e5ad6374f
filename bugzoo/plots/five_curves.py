"""Five losses beside each other, on one scale: which of them is another kind of curve?

One panel a run, with its number. The scale begins at zero and is the same everywhere: compare the heights, then the slopes.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from bugzoo.plots._style import BLUE, GREY, absent, prepare

SIZE = (9.0, 2.1)
"""Inches: as wide as a notebook's page."""
ABOVE = 1.08
"""Upper end of the scale, over the highest loss."""


def picture(curves: Sequence[Sequence[float]], labels: Sequence[str] = ()) -> Figure:
    """Return the figure of several losses, one a step. `labels`: titles of the panels instead of "run 1" and so on."""
    figure = Figure(figsize=SIZE, layout="constrained")
    panels: Any = figure.subplots(1, len(curves), sharex=True, sharey=True, squeeze=False)[0]
    finite = [value for curve in curves for value in curve if np.isfinite(value)]
    for place, (ax, curve) in enumerate(zip(panels, curves, strict=True)):
        losses = np.asarray(curve, dtype=np.float64)
        title = labels[place] if labels else f"run {place + 1}"
        prepare(ax, title, "optimizer step", "" if place else "loss")
        if not np.isfinite(losses).any():
            absent(ax, "no finite loss")
            continue
        steps = np.arange(1, len(losses) + 1)
        ax.plot(steps, losses, color=BLUE, linewidth=1.4)
        ax.grid(axis="y", color=GREY, alpha=0.25, linewidth=0.6)
    if finite:
        panels[0].set_ylim(min(0.0, min(finite)), max(finite) * ABOVE)
    return figure
