"""The parts of a step in milliseconds: one stacked bar, in the order in which they happen."""

from typing import Any

from bugzoo.plots._style import BLUE, GREEN, ORANGE, PURPLE, absent, legend, numbers_of, prepare

_PARTS = (("data", ORANGE, "//"), ("forward", BLUE, ""), ("backward", GREEN, ".."), ("step", PURPLE, "xx"))


def draw(data: Any, ax: Any) -> None:
    """Draw from `data`: the instrument's numbers, or a Run that carries them."""
    numbers = numbers_of(data, "step_timeline")
    prepare(ax, "One step", "milliseconds")
    if not numbers:
        absent(ax, "step times were not recorded")
        return
    left = 0.0
    for name, colour, hatch in _PARTS:
        width = numbers[f"{name}_ms"]
        ax.barh([0], [width], left=[left], color=colour, hatch=hatch, alpha=0.85, label=f"{name} {width:.3g} ms")
        left += width
    ax.set_yticks([])
    legend(ax)
