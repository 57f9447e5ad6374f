"""What a checklist catches of each family of mistakes, and what is left.

One bar a family, one unit a fault. Caught is filled, what stops with a message is hatched, and the rest is an empty frame: told
apart without colour, on a light page and on a dark one.
"""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from bugzoo.plots._style import BLUE, GREY, ORANGE, legend, prepare

KINDS = ("caught by one of the checks", "stops by itself, with a message", "neither")


def ordered(families: Mapping[str, Sequence[int]]) -> list[str]:
    """Names, those of which the largest share is caught first; of equal ones the larger first."""
    return sorted(families, key=lambda name: (-families[name][0] / families[name][2], -families[name][2], name))


def picture(families: Mapping[str, Sequence[int]]) -> Figure:
    """`families`: name -> (caught, stops by itself and is not caught, all)."""
    names = ordered(families)
    figure = Figure(figsize=(7.5, 0.24 * len(names) + 1.1), layout="constrained")
    figure.patch.set_alpha(0.0)
    ax = figure.subplots()
    prepare(ax, "What five checks catch, family by family", "faults of the catalogue")
    places = range(len(names))[::-1]
    caught = [families[name][0] for name in names]
    stops = [families[name][1] for name in names]
    rest = [families[name][2] - families[name][0] - families[name][1] for name in names]
    begun = [a + b for a, b in zip(caught, stops, strict=True)]
    ax.barh(places, caught, height=0.7, color=BLUE, label=KINDS[0])
    ax.barh(places, stops, left=caught, height=0.7, facecolor="none", edgecolor=ORANGE, hatch="////", label=KINDS[1])
    ax.barh(places, rest, left=begun, height=0.7, facecolor="none", edgecolor=GREY, linewidth=0.9, label=KINDS[2])
    ax.set_yticks(list(places), names, color=GREY, fontsize=8)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    legend(ax)
    return figure
