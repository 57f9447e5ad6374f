"""The loss on planes through the weights, side by side and in one scale of colours."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from bugzoo.plots._style import GREY, prepare

LOWEST, HIGHEST = -2.0, 4.0
"""Powers of ten of the loss between which colours differ: below nobody sees a difference, above everything is lost."""


def picture(slices: Mapping[str, Sequence[Sequence[float]]], columns: int = 3, reach: float = 1.0) -> Figure:
    """`slices`: title -> rows x columns of log10(loss in nats), the trained weights in the middle.

    Lines are drawn at each half power of ten; axes are in lengths of the weights' rows, from -reach to reach.
    """
    rows = -(-len(slices) // columns)
    figure = Figure(figsize=(3 * columns, 2.9 * rows), layout="constrained")
    figure.patch.set_alpha(0.0)
    axes = figure.subplots(rows, columns, squeeze=False)
    filled = None
    for ax in axes.ravel():
        ax.set_axis_off()
    for ax, (title, grid) in zip(axes.ravel(), slices.items(), strict=False):
        ax.set_axis_on()
        prepare(ax, title)
        values = np.clip(np.asarray(grid, dtype=float), LOWEST, HIGHEST)
        places = np.linspace(-reach, reach, len(values))
        levels = np.linspace(LOWEST, HIGHEST, 25)
        filled = ax.contourf(places, places, values, levels=levels, cmap="cividis")
        ax.contour(places, places, values, levels=levels[::2], colors=GREY, linewidths=0.6, linestyles="solid")
        ax.plot(0, 0, "o", color="white", markeredgecolor="black", markersize=5)
        ax.set_aspect("equal")
        ax.set_xticks([-reach, 0, reach])
        ax.set_yticks([-reach, 0, reach])
    if filled is not None:
        bar = figure.colorbar(filled, ax=axes, ticks=range(int(LOWEST), int(HIGHEST) + 1), shrink=0.8)
        bar.ax.set_yticklabels([f"$10^{{{power}}}$" for power in range(int(LOWEST), int(HIGHEST) + 1)])
        bar.ax.tick_params(colors=GREY)
        bar.set_label("loss in nats", color=GREY)
        bar.outline.set_visible(False)  # pyright: ignore[reportCallIssue]
    return figure
