"""Pictures of one view of several runs, in one figure and on one scale."""

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator

from bugzoo.running.reading import Reading
from bugzoo.views import _draw, draw

WIDE = 8.8
"""Inches of two pictures side by side."""


def figure(name: str, runs: Mapping[str, tuple[Reading, Any]]) -> Any:
    """Return a figure with a named panel for each run. `runs`: name -> (its reading, its picture alone).

    Two pictures of one plot each stand side by side. Others stand one below the other.
    """
    singles = [single for _, single in runs.values()]
    beside = len(singles) == 2 and all(len(single.axes) == 1 for single in singles)
    heights = [float(single.get_figheight()) for single in singles]
    size = (WIDE, max(heights) + 0.3) if beside else (singles[0].get_figwidth(), sum(heights) + 0.3 * len(heights))
    canvas = Figure(figsize=size, layout="constrained")
    canvas.patch.set_alpha(0.0)
    rows = [max(heights)] if beside else heights
    panels: Any = canvas.subfigures(len(rows), 1 + beside, squeeze=False, height_ratios=rows).ravel()
    for panel, (column, (reading, _)) in zip(panels, runs.items(), strict=True):
        panel.set_size_inches = lambda *_: None  # the figure has the size already
        panel.get_size_inches = lambda: (size[0] / (1 + beside), size[1])
        draw(name, reading.numbers, panel)
        panel.suptitle(column, color=_draw.INK, fontsize=11, fontweight="bold")
    for axes in zip(*(panel.axes for panel in panels), strict=False):
        share(axes)
    return canvas


def share(axes: tuple[Any, ...]) -> None:
    """Give axes that show the same quantity one scale. Pictures, color bars and lists of names keep theirs."""
    if any(ax.images or not ax.axison or ax.get_label() == "<colorbar>" for ax in axes):
        return
    for side in "xy":
        lines = [getattr(ax, f"{side}axis") for ax in axes]
        quantities = {(line.get_label_text(), line.get_scale()) for line in lines}
        if len(quantities) == 1 and not any(_listed(line) for line in lines):
            ends = [end for line in lines for end in line.get_view_interval()]
            for ax in axes:
                getattr(ax, f"set_{side}lim")(min(ends), max(ends))


def _listed(line: Any) -> bool:
    """Return whether an axis has names, or runs downwards as a list does."""
    return isinstance(line.get_major_locator(), FixedLocator) or line.get_inverted()
