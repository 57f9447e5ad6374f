"""One model, measured in several ways after each epoch: which part of a gap comes from how it was measured.

A pair of lines that differ in one thing only shows what that thing is worth. Colour, line and mark all tell them apart.
"""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from bugzoo.plots._style import BLUE, GREEN, GREY, ORANGE, PURPLE, STYLES, legend, prepare

COLOURS, MARKS = (ORANGE, BLUE, GREEN, PURPLE), "os^D"


def picture(curves: Mapping[str, Sequence[float]], what: str = "accuracy") -> Figure:
    """`curves`: name -> one number for each epoch, from the first on."""
    figure = Figure(figsize=(7.5, 3.8), layout="constrained")
    figure.patch.set_alpha(0.0)
    ax = figure.subplots()
    prepare(ax, "The same weights, measured in different ways", "epoch", what)
    for number, (name, values) in enumerate(curves.items()):
        ax.plot(
            range(1, len(values) + 1), list(values), STYLES[number % len(STYLES)], marker=MARKS[number % len(MARKS)],
            color=COLOURS[number % len(COLOURS)], label=name, linewidth=1.8, markersize=6,
        )  # fmt: skip
    longest = max((len(values) for values in curves.values()), default=0)
    ax.set_xticks(range(1, longest + 1))
    ax.grid(axis="y", color=GREY, alpha=0.3, linewidth=0.6)
    legend(ax)
    return figure
