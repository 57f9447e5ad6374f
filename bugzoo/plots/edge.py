"""The loss of gradient descent beside its sharpness: does the sharpness stop at 2 / rate, and does the loss fall all the same?

The bound of each rate is a thin line in the style of its run. A run below its bound falls step by step; one at it has hills.
"""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from bugzoo.plots._style import BLUE, GREEN, GREY, ORANGE, legend, prepare

COLOURS, STYLES, MARKS = (BLUE, ORANGE, GREEN), ("--", "-", "-."), "os^"


def picture(runs: Mapping[float, tuple[Sequence[float], Sequence[tuple[int, float]]]]) -> Figure:
    """`runs`: rate -> (the loss at each step, (step, sharpness) at some)."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    figure.patch.set_alpha(0.0)
    left, right = figure.subplots(1, 2)
    prepare(left, "The loss goes up and down", "step", "loss")
    prepare(right, "The sharpness stops at 2 / rate", "step", "sharpness")
    for number, (rate, (losses, sharp)) in enumerate(runs.items()):
        colour, style = COLOURS[number % 3], STYLES[number % 3]
        left.plot(range(len(losses)), list(losses), style, color=colour, linewidth=1.6, label=f"rate {rate:g}")
        steps, values = zip(*sharp, strict=True)
        right.plot(steps, values, style, marker=MARKS[number % 3], color=colour, markersize=4, label=f"rate {rate:g}")
        right.axhline(2 / rate, color=colour, linewidth=1, linestyle=style)
        right.annotate(f"2 / {rate:g}", (0, 2 / rate), (2, 3), textcoords="offset points", color=GREY, fontsize=8)
    left.set_yscale("log")
    for ax in (left, right):
        legend(ax)
    return figure
