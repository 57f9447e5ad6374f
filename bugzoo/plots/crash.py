"""How the run ended, as text."""

from typing import Any

from bugzoo.plots._palette import INK
from bugzoo.plots._style import TEXT, absent, numbers_of


def draw(data: Any, ax: Any) -> None:
    """Draw from `data`: the instrument's numbers, or a Run that carries them."""
    numbers = numbers_of(data, "crash")
    if not numbers:
        absent(ax, "the run did not crash")
        return
    ax.set_axis_off()
    line = f"line {numbers['line']}: " if numbers.get("line") else ""
    text = f"after {numbers['steps']:.0f} steps\n{line}{numbers['type']}\n{numbers['message'][:300]}"
    look = {"color": INK, "fontsize": TEXT, "family": "monospace", "va": "center", "wrap": True}
    ax.text(0.02, 0.5, text, transform=ax.transAxes, **look)
