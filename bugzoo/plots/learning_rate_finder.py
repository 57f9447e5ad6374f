"""The loss of one batch after ten steps, over their rate, with the script's own rate and the loss before the first step."""

import math
from typing import Any

from bugzoo.plots._style import GREY, PURPLE, THIS_RUN, absent, curve, legend, numbers_of, prepare


def draw(data: Any, ax: Any) -> None:
    """From the numbers; a Trace has none of them."""
    numbers = numbers_of(data, "learning_rate_finder")
    prepare(ax, "One batch after ten steps", "rate", "loss")
    if not numbers or not numbers.get("losses"):
        absent(ax, "this instrument measured nothing")
        return
    curve(ax, numbers["rates"], numbers["losses"], "after ten steps", THIS_RUN)
    ax.axhline(numbers["first_loss"], color=GREY, linestyle="--", linewidth=1, label="before them")
    ax.axvline(numbers["used"], color=GREY, linestyle=":", linewidth=1, label="the script's own rate")
    if math.isfinite(numbers["climbs"]):
        ax.axvline(numbers["climbs"], color=PURPLE, linestyle="-.", linewidth=1.2, label="higher than before")
    ax.set_xscale("log")
    if numbers["first_loss"] > 0:  # what overshoots leaves the picture
        ax.set_ylim(0, 2 * numbers["first_loss"])
    legend(ax)
