"""How far apart two runs are, step by step: a difference that stays as small as rounding beside one that grows.

Equal losses have no place on a logarithmic axis and leave a gap. Colour, line and mark all tell the curves apart.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from bugzoo.plots._style import BLUE, GREEN, GREY, ORANGE, PURPLE, STYLES, legend, prepare

COLOURS, MARKS = (ORANGE, BLUE, GREEN, PURPLE), "os^D"
ROUNDING = 2.0**-24
"""Half the distance between 1 and the next number in float32: what one rounding may cost."""


def measure(here: Sequence[float], there: Sequence[float]) -> np.ndarray:
    """(S,) differences as a part of `there`, over the steps that both made; nan where they are equal."""
    shared = min(len(here), len(there))
    one, other = (np.asarray(losses, dtype=np.float64)[:shared] for losses in (here, there))
    gap = np.abs(one - other) / np.maximum(np.abs(other), 1e-12)
    return np.where(gap > 0, gap, np.nan)


def smooth(gap: np.ndarray, width: int = 15) -> np.ndarray:
    """The median of each `width` steps, equal ones left out; nan where all are equal."""
    parts = [gap[max(0, end - width) : end] for end in range(1, len(gap) + 1)]
    return np.array([np.median(part[~np.isnan(part)]) if (~np.isnan(part)).any() else np.nan for part in parts])


def picture(pairs: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> Figure:
    """`pairs`: name -> the losses of two runs, one for each step."""
    figure = Figure(figsize=(7.5, 3.8), layout="constrained")
    figure.patch.set_alpha(0.0)
    ax = figure.subplots()
    prepare(ax, "How far apart are the two?", "step", "difference, as a part of the loss")
    for number, (name, (here, there)) in enumerate(pairs.items()):
        gap = smooth(measure(here, there))
        ax.plot(
            range(1, len(gap) + 1), gap, STYLES[number % len(STYLES)], marker=MARKS[number % len(MARKS)],
            markevery=max(1, len(gap) // 8), color=COLOURS[number % len(COLOURS)], label=name, linewidth=1.8, markersize=6,
        )  # fmt: skip
    ax.set_yscale("log")
    ax.axhline(ROUNDING, color=GREY, linewidth=1, linestyle=":")
    ax.annotate("one rounding", (1.0, ROUNDING), (-4, -11), xycoords=("axes fraction", "data"), textcoords="offset points",
                color=GREY, fontsize=8, ha="right")  # fmt: skip
    ax.grid(axis="y", color=GREY, alpha=0.3, linewidth=0.6)
    legend(ax)
    return figure
