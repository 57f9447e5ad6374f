"""The parts of a step in milliseconds: one stacked bar, in the order in which they happen."""

from typing import Any

from bugzoo.plots._labels import legend
from bugzoo.plots._palette import INK, SERIES
from bugzoo.plots._style import absent, numbers_of, prepare

PARTS = tuple(zip(("data", "forward", "backward", "step"), SERIES, ("//", "", "..", "xx"), strict=False))
"""(part, color, hatch), in the order in which they happen."""


def draw(data: Any, ax: Any) -> None:
    """Draw from `data`: the instrument's numbers, or a Run that carries them."""
    numbers = numbers_of(data, "step_timeline")
    prepare(ax, "One step", "milliseconds")
    if not numbers:
        absent(ax, "step times were not recorded")
        return
    left = 0.0
    for name, color, hatch in PARTS:
        width = numbers[f"{name}_ms"]
        look = {"color": color, "hatch": hatch, "alpha": 0.85, "edgecolor": INK, "label": f"{name} {width:.3g} ms"}
        ax.barh([0], [width], left=[left], **look)
        left += width
    ax.set_yticks([])
    legend(ax, 4)
