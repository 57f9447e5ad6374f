"""Paired runs: what a change did with each seed, what it did on average, and how surely that is known.

Left, each seed is a line from what it was to what it is; a mean that rises while half of the lines fall has told nothing yet.
Right, the differences in order, with the interval of their mean and the bar that was written down before.
"""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from bugzoo.plots._style import BLUE, GREY, ORANGE, PURPLE, legend, prepare


def picture(
    before: Sequence[float],
    after: Sequence[float],
    interval: tuple[float, float],
    bar: float,
    names: tuple[str, str] = ("before", "after"),
    first: int = 0,
    what: str = "r2",
) -> Figure:
    """`before` and `after`: one number for each seed, in the same order; the first few of them are ringed."""
    gains = np.asarray(after, dtype=float) - np.asarray(before, dtype=float)
    figure = Figure(figsize=(9, 3.9), layout="constrained")
    figure.patch.set_alpha(0.0)
    left, right = figure.subplots(1, 2, width_ratios=(2, 3))
    prepare(left, "each seed is a line", "", what)
    prepare(right, "the differences, in order", "seeds, by what they gained", f"{what} gained")
    kinds = ((gains > 0, BLUE, "-", "o", "gains"), (gains <= 0, ORANGE, "--", "v", "loses"))
    for chosen, colour, line, mark, _ in kinds:
        for seed in np.flatnonzero(chosen).tolist():
            left.plot([0, 1], [before[seed], after[seed]], line, marker=mark, color=colour, linewidth=1.4, markersize=5)
    left.set_xticks([0, 1], names, color=GREY)
    left.set_xlim(-0.25, 1.25)

    order = np.argsort(gains)
    place = np.empty(len(gains))
    place[order] = np.arange(len(gains))
    right.axhspan(*interval, facecolor=GREY, alpha=0.3, hatch="//", edgecolor=GREY, label="interval of the mean")
    right.axhline(0, color=GREY, linewidth=1)
    right.axhline(bar, color=PURPLE, linestyle=":", linewidth=2.2, label="the bar, written down before")
    for chosen, colour, _, mark, called in kinds:
        if chosen.any():
            right.plot(place[chosen], gains[chosen], mark, color=colour, markersize=7, label=called)
    if first:
        right.plot(
            place[:first], gains[:first], "o", markersize=12, markerfacecolor="none", markeredgecolor=GREY,
            markeredgewidth=1.6, label=f"the first {first} seeds",
        )  # fmt: skip
    right.set_xticks([])
    legend(right)
    return figure
