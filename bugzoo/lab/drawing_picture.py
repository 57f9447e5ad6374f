"""The picture after a drawn prediction: measured curves over the drawn line, legible on light and on dark pages."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bugzoo.course.drawings import Axis, Drawing
from bugzoo.plots import GUESS, end_labels, lines, prepare
from bugzoo.plots import figure as new_figure
from bugzoo.plots import reference as draw_reference


def figure(
    asked: Drawing,
    said: Sequence[float],
    curves: Mapping[str, tuple[np.ndarray, np.ndarray]],
    reference: Mapping[str, float],
) -> Any:
    """Return the figure. `said`: the drawn y-values, empty without a guess; `curves`: name -> (x, y).

    `reference`: name -> y to compare with.
    """
    picture = new_figure(3.4)
    ax = picture.subplots()
    prepare(ax, "", asked.x.label, asked.y.label)
    ax.set_xscale("log" if asked.x.log else "linear")
    ax.set_yscale("log" if asked.y.log else "linear")
    if said:
        ax.plot(asked.points, said, ":o", color=GUESS, linewidth=1.7, markersize=7, label="you drew")
    lines.draw(ax, curves)
    for name, value in reference.items():
        draw_reference(ax, value, name)
    ax.set_xlim(*_limits(asked.x, [x for x, _ in curves.values()]))
    ax.set_ylim(*_limits(asked.y, [*(y for _, y in curves.values()), np.array(list(reference.values()))]))
    end_labels(ax)
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
