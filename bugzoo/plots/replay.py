"""The replayed step as text: the operation, its line and whether the replay was exact."""

from typing import Any

from bugzoo.plots._palette import INK
from bugzoo.plots._style import TEXT, absent, numbers_of


def draw(data: Any, ax: Any) -> None:
    """Draw from `data`: the instrument's numbers, or a Run that carries them."""
    numbers = numbers_of(data, "replay")
    if not numbers or not numbers.get("found"):
        absent(ax, "no step had to be replayed")
        return
    ax.set_axis_off()
    lines = [f"step {numbers['step']:.0f}: {numbers.get('op') or 'an operation'} ({numbers.get('direction') or ''})"]
    lines.append(f"line {numbers.get('line')}: {numbers.get('code') or ''}")
    lines.append("the replay was bitwise exact" if numbers.get("faithful") else "the replay was not exact")
    look = {"color": INK, "fontsize": TEXT, "family": "monospace", "va": "center", "wrap": True}
    ax.text(0.02, 0.5, "\n".join(lines), transform=ax.transAxes, **look)
