"""Attention weights as squares, with the places that may not be read hatched, and the sum of each row as a bar beside them.

A row is a place that reads, a column a place that is read. The fuller the color of a square, the larger the weight. Color
inside the hatched part is a leak. A row whose bar ends before the dashed line, at 1, has lost weight after its softmax.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.colors import LinearSegmentedColormap, PowerNorm, to_rgb

from bugzoo.plots import _style
from bugzoo.plots._palette import INK, SERIES

SHADES = LinearSegmentedColormap.from_list("weight", [(*to_rgb(SERIES[0]), alpha) for alpha in (0.0, 1.0)])
"""From transparent, for a weight of 0, to violet: the page shows through in both themes."""


def measure(weights: Any, visible: Any) -> tuple[float, float]:
    """Return (the largest weight on a place that may not be read, the smallest sum of a row).

    `weights`: (time, time); `visible`: (time, time), True where a row may read a column.
    """
    values, mask = np.asarray(weights, dtype=np.float64), np.asarray(visible, dtype=bool)
    return float(np.where(mask, 0.0, values).max()), float(values.sum(axis=1).min())


def picture(maps: Mapping[str, Any], visible: Any) -> Any:
    """Return the figure, one map beside the other. `maps`: name -> (time, time) weights; `visible`: as in `measure`.

    Raises ValueError if a map has another shape than `visible`.
    """
    mask = np.asarray(visible, dtype=bool)
    figure = _style.figure(2.8, 3.5 * len(maps))
    grid = figure.add_gridspec(1, 2 * len(maps), width_ratios=(4, 1) * len(maps))
    for number, (name, weights) in enumerate(maps.items()):
        values = np.asarray(weights, dtype=np.float64)
        if values.shape != mask.shape:
            raise ValueError(f"the map {name!r} has the shape {values.shape}, and `visible` has {mask.shape}")
        square, beside = figure.add_subplot(grid[0, 2 * number]), figure.add_subplot(grid[0, 2 * number + 1])
        _square(square, name, values, mask)
        _sums(beside, values)
    return figure


def _square(ax: Any, name: str, values: np.ndarray, seen: np.ndarray) -> None:
    _style.prepare(ax, name, "place that is read", "place that reads")
    look = {"interpolation": "nearest", "aspect": "auto"}
    ax.imshow(values, cmap=SHADES, norm=PowerNorm(0.6, 0, 1), **look)  # 0.1 is visible, too
    hatched = np.ma.masked_invalid(np.where(seen, np.nan, 1.0))
    edges = np.arange(len(seen) + 1) - 0.5
    ax.pcolor(edges, edges, hatched, hatch="////", facecolor="none", edgecolor=INK, linewidth=0)
    for side in ax.spines.values():
        side.set_visible(True)
    for axis in (ax.xaxis, ax.yaxis):
        axis.get_major_locator().set_params(integer=True)


def _sums(ax: Any, values: np.ndarray) -> None:
    sums = values.sum(axis=1)
    _style.prepare(ax, "", "sum")
    ax.barh(np.arange(len(sums)), sums, height=0.7, color=SERIES[0])
    ax.axvline(1.0, color=INK, linestyle="--", linewidth=1)
    ax.set_ylim(len(sums) - 0.5, -0.5)
    ax.set_xlim(0, 1.25)
    ax.set_xticks([0, 1])
    ax.tick_params(labelleft=False)
