"""A legend above the axes, where lines and points may lie anywhere below."""

from typing import Any

from bugzoo.views._draw import GREY


def legend(ax: Any, columns: int = 4, size: float = 8) -> None:
    """Put the legend above the axes, in rows of `columns` entries."""
    if ax.get_legend_handles_labels()[0]:
        ax.legend(
            frameon=False, labelcolor=GREY, fontsize=size, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=columns,
            columnspacing=1.2, handletextpad=0.5,
        )  # fmt: skip
