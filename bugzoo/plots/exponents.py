"""Where numbers lie on the scale of a number format: what it rounds to zero, holds with fewer bits, holds, cannot hold.

Each set is a line of its own dash and mark over the powers of two; the borders of the format are drawn behind them.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from bugzoo.plots._style import BLUE, GREEN, GREY, ORANGE, PURPLE, STYLES, prepare

COLOURS, MARKS = (ORANGE, BLUE, GREEN, PURPLE), "os^D"
ZERO, NORMAL, LARGEST = -25, -14, 16
"""float16, powers of two: below it all is rounded to 0; its smallest number with all bits; what is too large for it."""


def picture(sets: Mapping[str, Any]) -> Figure:
    """`sets`: name -> numbers, of any shape; zeros and what is not finite are left out."""
    figure = Figure(figsize=(7.8, 3.8), layout="constrained")
    figure.patch.set_alpha(0.0)
    ax = figure.subplots()
    prepare(ax, "What float16 can hold, and where the numbers lie", "size of a number, as a power of two", "share")
    lowest, top = ZERO - 8, 0.0
    for number, (name, values) in enumerate(sets.items()):
        sizes = np.abs(np.asarray(values, dtype=np.float64).reshape(-1))
        powers = np.floor(np.log2(sizes[(sizes > 0) & np.isfinite(sizes)]))
        edges = np.arange(powers.min(), powers.max() + 1)
        shares = np.array([(powers == edge).mean() for edge in edges])
        shown = shares > 0.001
        ax.plot(
            edges[shown], shares[shown], STYLES[number % len(STYLES)], marker=MARKS[number % len(MARKS)],
            color=COLOURS[number % len(COLOURS)], label=name, linewidth=1.6, markersize=4,
        )  # fmt: skip
        lowest, top = min(lowest, edges[shown].min()), max(top, shares.max())
    for border in (ZERO, NORMAL, LARGEST):
        ax.axvline(border, color=GREY, linewidth=1, linestyle=":")
    ax.axvspan(lowest - 2, ZERO, facecolor="none", edgecolor=GREY, hatch="//", alpha=0.35, linewidth=0)
    ax.set_xlim(lowest - 2, LARGEST + 5)
    ax.set_ylim(0, 1.45 * top)
    for left, right, word in (
        (lowest - 2, ZERO, "becomes 0"),
        (ZERO, NORMAL, "fewer bits"),
        (NORMAL, LARGEST, "all 11 bits"),
        (LARGEST, LARGEST + 5, "inf"),
    ):
        ax.text((left + right) / 2, 1.36 * top, word, color=GREY, ha="center", fontsize=9)
    ax.legend(frameon=False, labelcolor=GREY, fontsize=8, loc="upper right", bbox_to_anchor=(0.9, 0.9))
    return figure
