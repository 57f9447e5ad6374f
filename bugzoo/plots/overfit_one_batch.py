"""The loss of one batch that the program's own step is given again and again, with half of where it began."""

from typing import Any

from bugzoo.plots._style import GREY, PURPLE, THIS_RUN, absent, curve, legend, numbers_of, prepare


def draw(data: Any, ax: Any) -> None:
    """From the numbers; a Trace has none of them."""
    numbers = numbers_of(data, "overfit_one_batch")
    prepare(ax, "One batch, again and again", "repetition", "loss")
    if not numbers or not numbers.get("losses"):
        absent(ax, "this instrument measured nothing")
        return
    curve(ax, numbers["repetitions"], numbers["losses"], "the program's own step", THIS_RUN)
    ax.axhline(numbers["first_loss"] / 2, color=GREY, linestyle=":", linewidth=1, label="half of the first loss")
    if numbers.get("lost_step", 0) > 0:
        ax.axvline(numbers["lost_step"], color=PURPLE, linestyle="-.", linewidth=1.2, label="no number any more")
    ax.set_ylim(bottom=0)
    legend(ax)
