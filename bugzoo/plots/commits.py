"""One number after each commit, for several seeds: is a jump larger than the spread?"""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from bugzoo.plots._style import BLUE, GREY, ORANGE, legend, prepare


def picture(numbers: Mapping[str, Sequence[tuple[int, Sequence[float]]]]) -> Figure:
    """`numbers`: what was measured -> (commit, one value for each seed); a commit that could not be judged is left out."""
    figure = Figure(figsize=(8, 3.4), layout="constrained")
    figure.patch.set_alpha(0.0)
    axes = figure.subplots(1, len(numbers), squeeze=False)[0]
    for ax, (name, rows) in zip(axes, numbers.items(), strict=True):
        prepare(ax, name, "commit", "")
        for commit, values in rows:
            # hollow, so that equal values and a pale page or a dark one hide nothing
            ax.plot([commit] * len(values), list(values), "o", color=BLUE, markerfacecolor="none", markersize=5)
            ax.plot([commit], [sum(values) / len(values)], "_", color=ORANGE, markersize=16, markeredgewidth=2.5)
        # two lines of nothing, for the legend
        ax.plot([], [], "o", color=BLUE, markerfacecolor="none", markersize=5, label="one seed")
        ax.plot([], [], "_", color=ORANGE, markersize=12, markeredgewidth=2.5, label="mean of the seeds")
        ax.set_xticks([commit for commit, _ in rows])
        ax.grid(axis="y", color=GREY, alpha=0.3, linewidth=0.6)
    legend(axes[-1])
    return figure
