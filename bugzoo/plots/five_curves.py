"""Five losses beside each other, on one scale: which of them is another kind of curve?

One panel a run, with its number. The scale begins at zero and is the same everywhere: compare the heights, then the slopes.
"""

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from bugzoo.plots import _style
from bugzoo.plots._palette import INK, SERIES
from bugzoo.plots._style import absent, prepare

ABOVE = 1.08
"""Upper end of the scale, over the highest loss."""


def picture(curves: Sequence[Sequence[float]], labels: Sequence[str] = ()) -> Any:
    """Return the figure of several losses, one a step. `labels`: titles of the panels instead of "run 1" and so on."""
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
    if finite:
        panels[0].set_ylim(min(0.0, min(finite)), max(finite) * ABOVE)
    return figure
