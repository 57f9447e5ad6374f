"""The same weights, evaluated many times: does the number vary, and what does one batch keep for a backward pass?

A level row of squares is one number, found each time. Circles at different heights are numbers that depend on chance.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bugzoo.plots import _style
from bugzoo.plots._palette import INK, SERIES

BYTES = 1e6
"""In a megabyte."""


def picture(ways: Mapping[str, Sequence[float]], kept: Mapping[str, float] | None = None) -> Any:
    """Return the figure. `ways`: name -> accuracies, from 0 to 1; `kept`: name -> bytes, for bars below the dots.

    Raises KeyError if `kept` lacks one of the ways.
    """
    figure = _style.figure(4.0 if kept else 3.0)
    above, below = figure.subplots(2, 1, height_ratios=(3, 1), sharex=True) if kept else (figure.add_subplot(), None)
    _style.prepare(above, "", ylabel="accuracy")
    for place, accuracies in enumerate(ways.values()):
        _dots(above, place, accuracies)
    above.set_xlim(-0.5, len(ways) - 0.5)
    above.margins(y=0.25)
    names = [name.replace(", ", "\n") for name in ways]
    if kept and below is not None:
        _style.prepare(below, "", ylabel="MB a batch")
        sizes = [kept[name] / BYTES for name in ways]
        below.bar(range(len(ways)), sizes, width=0.5, color=INK, alpha=0.6)
        for place, size in enumerate(sizes):
            below.text(place, size, f"{size:.2f}" if size else "0", color=INK, ha="center", va="bottom",
                       fontsize=_style.TEXT)  # fmt: skip
        below.margins(y=0.6)
        above.tick_params(labelbottom=False)
    (below or above).set_xticks(range(len(ways)), names, color=INK)
    return figure


def _dots(ax: Any, place: int, accuracies: Sequence[float]) -> None:
    """Draw one column: squares if all numbers are equal, else circles; and say in words what they are."""
    low, high = min(accuracies), max(accuracies)
    color, marker = (SERIES[0], "s") if low == high else (SERIES[1], "o")
    across = place + np.linspace(-0.3, 0.3, len(accuracies))
    ax.plot(across, accuracies, marker, color=color, markersize=4.5, alpha=0.85)
    text = f"{low:.3f} each time" if low == high else f"{low:.3f} to {high:.3f}"
    above = {"xytext": (0, 7), "textcoords": "offset points", "ha": "center", "va": "bottom"}
    ax.annotate(text, (place, high), **above, color=INK, fontsize=_style.TEXT)
