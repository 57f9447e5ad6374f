"""The loss of one batch, repeated through the program's own step, with half of the first loss."""

from typing import Any

from bugzoo.plots._style import GREY, PURPLE, THIS_RUN, absent, curve, legend, numbers_of, prepare


def draw(data: Any, ax: Any) -> None:
    """Draw from the numbers; a Trace does not have them."""
    numbers = numbers_of(data, "overfit_one_batch")
    prepare(ax, "Overfitting one batch", "repetition", "loss")
    if not numbers or not numbers.get("losses"):
        absent(ax, "the instrument measured nothing")
        return
    curve(ax, numbers["repetitions"], numbers["losses"], "the program's own step", THIS_RUN)
    ax.axhline(numbers["first_loss"] / 2, color=GREY, linestyle=":", linewidth=1, label="half of the first loss")
    if numbers.get("lost_step", 0) > 0:
        ax.axvline(numbers["lost_step"], color=PURPLE, linestyle="-.", linewidth=1.2, label="loss is not finite")
    ax.set_ylim(bottom=0)
    legend(ax)
