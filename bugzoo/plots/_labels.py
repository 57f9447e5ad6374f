"""Names beside what they name: at the ends of lines, on a reference value, above the frame at an event."""

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from bugzoo.plots._palette import INK, REFERENCE
from bugzoo.plots._style import TEXT, TITLE

MOST = 6
"""Most names at the ends of lines."""
WRAP = 20
"""Most letters in a line of a name."""
LINE = 1.25 * TEXT
"""Height of a line of text, in points."""


def end_labels(ax: Any) -> None:
    """Name each labeled line at its right end, in its color. Call it last.

    Names that would overlap are spread. Where they do not fit beside the axes, a legend stands above them.
    """
    lines = [line for line in ax.get_lines() if not line.get_label().startswith("_") and _end(ax, line) is not None]
    names = [textwrap.fill(line.get_label(), WRAP) for line in lines]
    # the layout comes first: heights of text are points, heights of lines are shares of the axes
    ax.get_figure(root=True).draw_without_rendering()
    points = ax.get_window_extent().height / ax.figure.dpi * 72
    heights = [LINE * (name.count("\n") + 1) / points for name in names]
    if len(names) > MOST or sum(heights) > 1:
        legend(ax)
        return
    ends = [_end(ax, line) or 0.0 for line in lines]
    for line, name, place in zip(lines, names, spread(ends, heights), strict=True):
        ax.annotate(
            name, (1, place), (6, 0), xycoords="axes fraction", textcoords="offset points", color=line.get_color(),
            va="center", fontsize=TEXT, annotation_clip=False,
        )  # fmt: skip


def _end(ax: Any, line: Any) -> float | None:
    """Return the height of a line's last finite point, as a share of the axes; None without any."""
    low, high = sorted(ax.get_ylim())
    heights = np.asarray(line.get_ydata(), dtype=np.float64)
    heights = heights[np.isfinite(heights) & (heights > 0 if ax.get_yscale() == "log" else True)]
    if not len(heights):
        return None
    place = ax.get_yaxis_transform().transform((1, min(max(heights[-1], low), high)))
    return float(ax.transAxes.inverted().transform(place)[1])


def spread(ends: Sequence[float], heights: Sequence[float]) -> list[float]:
    """Return the middles of texts of these `heights`, near `ends` and without overlaps, from 0 to 1."""
    order = sorted(range(len(ends)), key=lambda at: ends[at])
    below = np.cumsum([0.0, *(heights[at] for at in order)])
    blocks: list[list[float]] = []  # texts that touch move as one: to the mean of where each would have it
    for at, low in zip(order, below[:-1], strict=True):
        blocks.append([ends[at] - low - heights[at] / 2])
        while len(blocks) > 1 and np.mean(blocks[-2]) > np.mean(blocks[-1]):
            last = blocks.pop()
            blocks[-1] += last
    starts = np.clip([np.mean(block) for block in blocks for _ in block], 0, max(0.0, 1 - below[-1]))
    places = {at: start + low + heights[at] / 2 for at, start, low in zip(order, starts, below[:-1], strict=True)}
    return [float(places[at]) for at in range(len(ends))]


def reference(ax: Any, value: float, name: str) -> None:
    """Draw a value to compare with: a thin dashed line, which `end_labels` names."""
    ax.axhline(value, color=REFERENCE, linestyle=(0, (6, 4)), linewidth=1, label=name, zorder=1)


def mark(ax: Any, x: float, text: str, *below: Any) -> None:
    """Draw an event: a dotted line, also in the axes `below`, and its name above the frame."""
    for one in (ax, *below):
        one.axvline(x, color=INK, linestyle=":", linewidth=1.2)
    rows = sum(1 + note.get_text().count("\n") for note in ax.texts if note.get_gid() == "mark")
    ax.annotate(
        text, (x, 1), (0, 3 + rows * LINE), xycoords=ax.get_xaxis_transform(), textcoords="offset points", color=INK,
        fontsize=TEXT, va="bottom", ha="left" if ax.transAxes.inverted().transform(_at(ax, x))[0] < 0.5 else "right",
        annotation_clip=False, gid="mark",
    )  # fmt: skip
    _raise_title(ax, rows + 1 + text.count("\n"))


def _at(ax: Any, x: float) -> Any:
    ax.get_xlim()  # brings the limits up to date
    return ax.get_xaxis_transform().transform((x, 0))


def legend(ax: Any, columns: int = 3) -> None:
    """Put a legend above the axes, where it covers nothing, in rows of `columns` entries."""
    if count := len(ax.get_legend_handles_labels()[0]):
        ax.legend(
            frameon=False, labelcolor=INK, fontsize=TEXT, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=columns,
            columnspacing=1.0, handletextpad=0.4, borderaxespad=0.2,
        )  # fmt: skip
        _raise_title(ax, -(-count // columns) + 0.5)


def _raise_title(ax: Any, rows: float) -> None:
    """Move a title above so many lines of text."""
    if ax.get_title():
        ax.set_title(ax.get_title(), fontsize=TITLE, color=INK, pad=6 + rows * LINE)
