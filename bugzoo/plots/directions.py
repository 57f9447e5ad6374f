"""In how many directions a layer's features differ from picture to picture: the share of their variance in the first n of them.

A head on frozen layers sees nothing but these features. Where nearly all of their variance lies in a few directions, little is
left by which things could be told apart that nobody asked for when the layers were trained.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from bugzoo.plots._style import BLUE, GREEN, GREY, ORANGE, STYLES, legend, prepare

COLOURS, MARKS = (ORANGE, BLUE, GREEN), "os^"
MOST = 0.95


def measure(features: Any) -> np.ndarray:
    """`features`: (pictures, units). Share of the variance in the first 1, 2, 3 ... principal directions."""
    values = np.asarray(features, dtype=np.float64)
    spread = np.linalg.svd(values - values.mean(0), compute_uv=False) ** 2
    return np.cumsum(spread) / spread.sum()


def needed(shares: np.ndarray, most: float = MOST) -> int:
    """How many directions hold so much of it."""
    return int(np.searchsorted(shares, most)) + 1


def picture(layers: Mapping[str, Any], first: int = 40) -> Figure:
    """`layers`: name -> features (pictures, units)."""
    figure = Figure(figsize=(7.5, 3.6), layout="constrained")
    figure.patch.set_alpha(0.0)
    ax = figure.subplots()
    prepare(ax, "How much of what the features tell lies in few directions", "directions", "share of the variance")
    for number, (name, features) in enumerate(layers.items()):
        shares = measure(features)
        ax.plot(
            range(1, min(first, len(shares)) + 1), shares[:first], STYLES[number % len(STYLES)],
            marker=MARKS[number % len(MARKS)], markevery=4, markersize=5, linewidth=1.8,
            color=COLOURS[number % len(COLOURS)], label=f"{name}: {needed(shares)} directions for {MOST:.0%}",
        )  # fmt: skip
    ax.axhline(MOST, color=GREY, linestyle=":", linewidth=1)
    ax.set_ylim(0, 1.03)
    legend(ax)
    return figure
