"""The loss of each rank, step by step: curves that lie upon each other mean that the ranks saw the same samples.

Rings and crosses, so that two equal curves are still seen to be two.
"""

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from bugzoo.plots._style import BLUE, GREEN, GREY, ORANGE, PURPLE, STYLES, column, legend, prepare

COLOURS, MARKS = (BLUE, ORANGE, GREEN, PURPLE), "ox^s"


def picture(runs: Mapping[str, Any], steps: int = 40) -> Figure:
    """`runs`: title -> a Run with ranks; the first `steps` of each, side by side on one scale."""
    figure = Figure(figsize=(8.5, 3.6), layout="constrained")
    figure.patch.set_alpha(0.0)
    panels = figure.subplots(1, len(runs), sharey=True, squeeze=False)[0]
    for ax, (title, run) in zip(panels, runs.items(), strict=True):
        prepare(ax, title, "step", "loss before averaging" if ax is panels[0] else "")
        for rank, one in enumerate(run.ranks):
            losses = column(one.trace.loss)[:steps]
            mark = MARKS[rank % len(MARKS)]
            ax.plot(
                range(1, len(losses) + 1), losses, STYLES[rank % len(STYLES)], color=COLOURS[rank % len(COLOURS)],
                marker=mark, markersize=7 if mark == "o" else 4, markerfacecolor="none", linewidth=1.2, label=f"rank {rank}",
            )  # fmt: skip
        ax.grid(axis="y", color=GREY, alpha=0.3, linewidth=0.6)
        legend(ax)
    return figure
