"""A legend above the axes, where lines and points may lie anywhere below."""

from typing import Any

from bugzoo.views._draw import GREY


def legend(ax: Any, columns: int = 4, size: float = 8, gaps: tuple[float, float] = (1.2, 0.5)) -> None:
    """Put the legend above the axes, in rows of `columns` entries. `gaps`: between these, and between marker and text."""
    if ax.get_legend_handles_labels()[0]:
        ax.legend(
            frameon=False, labelcolor=GREY, fontsize=size, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=columns,
            columnspacing=gaps[0], handletextpad=gaps[1],
        )  # fmt: skip
