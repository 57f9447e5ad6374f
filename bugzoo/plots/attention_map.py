"""Who looks where: the weights of one head of attention as a heat map, and the border of what may be seen.

A row is a place that asks, a column one that is looked at. What lies beyond the border, on the hatched side, should be dark; the
title says how much of the weight lies there.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from bugzoo.plots._style import GREY, RED, prepare

NORM = PowerNorm(0.5, 0, 1)
"""A weight of 1/32, an even share among 32 places, is still seen beside one of 1."""


def measure(weights: Any, allowed: Any) -> float:
    """Share of all weight that lies where nothing may be seen; both are (queries, keys)."""
    weights = np.asarray(weights, dtype=np.float64)
    return float(weights[~np.asarray(allowed, dtype=bool)].sum() / weights.sum())


def border(allowed: np.ndarray) -> list[list[tuple[float, float]]]:
    """Line segments between cells that may be seen and cells that may not, in the coordinates of imshow."""
    sides = [
        [(column + 0.5, row - 0.5), (column + 0.5, row + 0.5)]
        for row, column in np.argwhere(allowed[:, 1:] != allowed[:, :-1]).tolist()
    ]
    floors = [
        [(column - 0.5, row + 0.5), (column + 0.5, row + 0.5)]
        for row, column in np.argwhere(allowed[1:] != allowed[:-1]).tolist()
    ]
    return sides + floors


def draw(name: str, weights: Any, allowed: Any, ax: Any) -> Any:
    """One head: `weights` and `allowed` are (queries, keys). Returns the image, for a colour bar."""
    weights, allowed = np.asarray(weights, dtype=np.float64), np.asarray(allowed, dtype=bool)
    title = f"{name}\n{measure(weights, allowed):.0%} of the weight is where nothing may be seen"
    prepare(ax, title, "place that is looked at", "place that asks")
    image = ax.imshow(weights, cmap="cividis", norm=NORM, interpolation="nearest")
    for row, column in np.argwhere(~allowed).tolist():
        ax.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, hatch="///", edgecolor=GREY, linewidth=0))
    ax.add_collection(LineCollection(border(allowed), colors=RED, linewidths=1.5))
    return image


def picture(heads: Mapping[str, Any], allowed: Any, label: str = "attention weight") -> Figure:
    """Heads side by side: name -> (queries, keys) weights, under one mask; `label` says what a weight is."""
    figure = Figure(figsize=(4.2 * len(heads) + 0.8, 4.2), layout="constrained")
    figure.patch.set_alpha(0.0)
    axes = figure.subplots(1, len(heads), squeeze=False)[0]
    images = [draw(name, weights, allowed, ax) for ax, (name, weights) in zip(axes, heads.items(), strict=True)]
    bar = figure.colorbar(images[-1], ax=list(axes), shrink=0.8, ticks=[0, 0.05, 0.2, 0.5, 1])
    bar.ax.tick_params(colors=GREY)
    bar.outline.set_edgecolor(GREY)
    bar.set_label(label, color=GREY)
    figure.draw_without_rendering()  # square cells move the titles, which a first layout does not know of
    return figure
