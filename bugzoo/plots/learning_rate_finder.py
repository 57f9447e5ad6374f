"""The loss of one batch after ten steps, over the learning rate; with the script's own rate and the first loss."""

import math
from typing import Any

from bugzoo.plots._style import GREY, PURPLE, THIS_RUN, absent, curve, legend, numbers_of, prepare


def draw(data: Any, ax: Any) -> None:
    """Draw from the numbers; a Trace does not have them."""
    numbers = numbers_of(data, "learning_rate_finder")
    prepare(ax, "One batch after ten steps", "learning rate", "loss")
    if not numbers or not numbers.get("losses"):
        absent(ax, "the instrument measured nothing")
        return
    curve(ax, numbers["rates"], numbers["losses"], "after ten steps", THIS_RUN)
    ax.axhline(numbers["first_loss"], color=GREY, linestyle="--", linewidth=1, label="before the first step")
    ax.axvline(numbers["used"], color=GREY, linestyle=":", linewidth=1, label="the script's learning rate")
    if math.isfinite(numbers["climbs"]):
        ax.axvline(numbers["climbs"], color=PURPLE, linestyle="-.", linewidth=1.2, label="loss higher than before")
    ax.set_xscale("log")
    if numbers["first_loss"] > 0:  # values that overshoot are cut off
        ax.set_ylim(0, 2 * numbers["first_loss"])
    legend(ax)
