"""One batch learnt by heart, several runs side by side: where each comes to rest, and how low it could.

Every run has its own panel under its own letter, and all share one logarithmic axis, so that no colour has to tell them apart.
"""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from bugzoo.plots._style import BLUE, GREY, ORANGE, legend, prepare

LEAST = 1e-3
"""Where the axis ends: a batch with such a loss is learnt."""


def picture(curves: Mapping[str, Sequence[float]], floors: Mapping[str, float] | None = None) -> Figure:
    """`curves`: name -> losses (nats), one for each repetition; `floors`: name -> the lowest loss that is possible."""
    figure = Figure(figsize=(max(4.0, 2.1 * len(curves)), 2.8), layout="constrained")
    figure.patch.set_alpha(0.0)
    axes = figure.subplots(1, max(1, len(curves)), sharey=True, squeeze=False)[0]
    floors = floors or {}
    for ax, (name, losses) in zip(axes, curves.items(), strict=False):
        prepare(ax, name, "repetition", "loss" if ax is axes[0] else "")
        ax.plot(range(1, len(losses) + 1), [max(one, LEAST) for one in losses], color=BLUE, linewidth=1.4)
        if name in floors:
            ax.axhline(max(floors[name], LEAST), color=ORANGE, linestyle="--", linewidth=1.6, label="lowest possible")
            legend(ax)
        ax.set_yscale("log")
        ax.grid(axis="y", color=GREY, alpha=0.3, linewidth=0.6)
    return figure
