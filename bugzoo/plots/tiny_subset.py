"""The mean loss of a few batches that take turns, with what one of them alone came to."""

from typing import Any

from bugzoo.plots._style import GREY, THIS_RUN, absent, curve, legend, numbers_of, prepare


def draw(data: Any, ax: Any) -> None:
    """From the numbers; a Trace has none of them."""
    numbers = numbers_of(data, "tiny_subset")
    prepare(ax, "A few batches in turn", "turn", "mean loss")
    if not numbers or not numbers.get("losses"):
        absent(ax, "this instrument measured nothing")
        return
    curve(ax, numbers["repetitions"], numbers["losses"], "together", THIS_RUN)
    alone = numbers["alone"] * numbers["first_loss"]
    ax.axhline(alone, color=GREY, linestyle=":", linewidth=1, label="one alone came to this part")
    ax.set_ylim(bottom=0)
    legend(ax)
