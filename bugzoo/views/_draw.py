"""Shared by the pictures of views: axes with units, one line a tensor, names that fit. Drawn from numbers only."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from bugzoo.plots._labels import end_labels, legend, mark, reference
from bugzoo.plots._palette import INK, SERIES, STYLES, THIS_RUN
from bugzoo.plots._style import TEXT, absent, prepare

__all__ = [
    "COLORS", "INK", "SERIES", "STYLES", "TEXT", "THIS_RUN", "absent", "axes", "band", "decades", "end_labels", "legend",
    "line", "mark", "points", "prepare", "reference", "tensor_names",
]  # fmt: skip
COLORS = (THIS_RUN, *SERIES)
"""By place: 0 is the run that is looked at."""
MARKERS = ("o", "s", "^", "D", "v", "P")
LABELS = 24
"""Most names that fit below a picture; of more, every second or third is written."""


def axes(figure: Any, xlabel: str, ylabel: str, title: str = "") -> Any:
    """Return the figure's only axes, prepared for both themes."""
    ax = figure.subplots()
    prepare(ax, title, xlabel, ylabel)
    return ax


def line(ax: Any, x: Sequence[float], y: Sequence[float], label: str = "", place: int = 0, style: Any = "-") -> bool:
    """Draw a line over the finite points; return False without any."""
    xs, ys = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    keep = np.isfinite(ys)
    if not keep.any():
        return False
    marker = "." if keep.sum() < 3 else None
    look = {"linestyle": style, "color": COLORS[place % 6], "linewidth": 1.4, "marker": marker}
    ax.plot(xs[keep], ys[keep], label=label or None, **look)
    return True


def points(ax: Any, values: Sequence[float], label: str, place: int) -> bool:
    """Draw one marker for each positive value, at 0, 1, 2 ...; return False without any."""
    ys = np.asarray(values, dtype=np.float64)
    keep = np.isfinite(ys) & (ys > 0)
    if not keep.any():
        return False
    ax.plot(
        np.flatnonzero(keep), ys[keep], MARKERS[place % 6] + ":", color=COLORS[place % 6], label=label,
        linewidth=0.8, markersize=7 - place, fillstyle="none" if place % 2 else "full",
    )  # fmt: skip
    return True


def decades(set_limits: Callable[[float, float], Any], values: Iterable[float]) -> None:
    """Show at least three decades on a logarithmic axis, which would exaggerate small differences otherwise.

    `set_limits`: `set_xlim` or `set_ylim` of the axes.
    """
    positives = [value for value in values if math.isfinite(value) and value > 0]
    if positives:
        low, high = min(positives), max(positives)
        set_limits(min(low / 2, high / 500), max(high * 2, low * 500))


def tensor_names(ax: Any, names: Sequence[str]) -> None:
    """Write the tensors' names below the axes."""
    every = -(-len(names) // LABELS) or 1
    ax.set_xticks(range(0, len(names), every), names[::every], rotation=60, ha="right")
    ax.set_xlim(-0.5, len(names) - 0.5)


def band(ax: Any, low: float, high: float, label: str = "usual") -> None:
    """Shade the usual range of the y axis."""
    ax.axhspan(low, high, color=INK, alpha=0.15, linewidth=0, label=label)
