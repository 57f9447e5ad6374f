"""The picture after a drawn prediction: measured curves over the drawn line, legible on light and on dark pages."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from bugzoo.course.drawings import Axis, Drawing
from bugzoo.plots import GREEN, ORANGE, PURPLE, STYLES, legend, prepare
from bugzoo.plots.comparison import BROKEN, HEALTHY

COLORS = (HEALTHY, GREEN, PURPLE, ORANGE)
"""Of the measured curves; each has its own line style, too. The drawn line keeps its color from the sliders' plot."""


def figure(asked: Drawing, said: Sequence[float], curves: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> Figure:
    """Return the figure. `said`: the drawn y-values, empty without a guess; `curves`: name -> (x, y)."""
    picture = Figure(figsize=(7.2, 3.5), layout="constrained")
    ax = picture.subplots()
    prepare(ax, "", asked.x.label, asked.y.label)
    ax.set_xscale("log" if asked.x.log else "linear")
    ax.set_yscale("log" if asked.y.log else "linear")
    if said:
        ax.plot(asked.points, said, ":o", color=BROKEN, linewidth=1.7, markersize=7, label="you drew")
    for place, (name, (x, y)) in enumerate(curves.items()):
        mask = _drawable(x, asked.x) & _drawable(y, asked.y)
        style, color = STYLES[place % len(STYLES)], COLORS[place % len(COLORS)]
        ax.plot(x, np.where(mask, y, np.nan), style, color=color, linewidth=2, label=name)
    ax.set_xlim(*_limits(asked.x, [x for x, _ in curves.values()]))
    ax.set_ylim(*_limits(asked.y, [y for _, y in curves.values()]))
    legend(ax)
    return picture


def _drawable(values: np.ndarray, axis: Axis) -> np.ndarray:
    """Return which values an axis can show: finite, and above 0 where it is logarithmic."""
    return np.isfinite(values) & ((values > 0) | (not axis.log))


def _limits(axis: Axis, columns: Sequence[np.ndarray]) -> tuple[float, float]:
    """Return the ends of an axis: as asked, and further where a curve leaves it."""
    numbers = [axis.low, axis.high, *(number for values in columns for number in values[_drawable(values, axis)])]
    low, high = min(numbers), max(numbers)
    if axis.log:
        room = (high / low) ** 0.03
        return low / room, high * room
    room = 0.03 * (high - low)
    return low - room, high + room
