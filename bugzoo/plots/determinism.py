"""How much two runs of one script differ, and from which step on."""

from typing import Any

from bugzoo.plots._style import absent, bars, numbers_of, prepare


def draw(data: Any, ax: Any) -> None:
    """Draw from `data`: the instrument's numbers, or a Run that carries them."""
    numbers = numbers_of(data, "determinism")
    prepare(ax, "Two runs of the same script", "relative difference of the loss")
    if not numbers:
        absent(ax, "the script was run only once")
    elif not numbers["first_difference"]:
        absent(ax, f"bitwise equal over {numbers['compared']:.0f} steps")
    else:
        first = f"at step {numbers['first_difference']:.0f}, the first to differ"
        bars(ax, {first: numbers["size"], "largest": numbers["largest"]})
