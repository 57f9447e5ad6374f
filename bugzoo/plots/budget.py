"""What one training step keeps in memory, part by part, for several batches: which part grows, and which does not care.

A bar for each batch, its parts laid end to end. Colour and hatching both tell the parts apart.
"""

from collections.abc import Mapping

from matplotlib.figure import Figure

from bugzoo.plots._style import BLUE, GREEN, GREY, ORANGE, SKY, legend, prepare

COLOURS, HATCHES = (BLUE, SKY, GREEN, ORANGE), ("", "//", "..", "xx")


def picture(parts: Mapping[str, Mapping[str, float]], unit: str = "MiB") -> Figure:
    """`parts`: name of a bar -> (name of a part -> its size in `unit`). Bars from the top down, parts from the left."""
    figure = Figure(figsize=(7.5, 0.9 + 0.55 * len(parts)), layout="constrained")
    figure.patch.set_alpha(0.0)
    ax = figure.subplots()
    prepare(ax, "What a step keeps until its backward pass", unit)
    for place, sizes in enumerate(parts.values()):
        left = 0.0
        for number, (name, size) in enumerate(sizes.items()):
            ax.barh(
                place, size, left=left, height=0.62, color=COLOURS[number % 4], hatch=HATCHES[number % 4],
                edgecolor="white", linewidth=0.6, label=name if place == 0 else None,
            )  # fmt: skip
            left += size
        ax.annotate(f" {left:.1f}", (left, place), va="center", color=GREY, fontsize=9)
    ax.set_yticks(range(len(parts)), list(parts))
    ax.invert_yaxis()
    ax.margins(x=0.1)
    legend(ax)
    return figure
