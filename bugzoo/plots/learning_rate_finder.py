"""The loss of one batch after ten steps, over the learning rate; with the script's own rate and the first loss."""

import math
from typing import Any

from bugzoo.plots._labels import end_labels, mark, reference
from bugzoo.plots._palette import THIS_RUN
from bugzoo.plots._style import absent, curve, numbers_of, prepare


def draw(data: Any, ax: Any) -> None:
    """Draw from the numbers; a Trace does not have them."""
    numbers = numbers_of(data, "learning_rate_finder")
    prepare(ax, "One batch after ten steps", "learning rate", "loss")
    if not numbers or not numbers.get("losses"):
        absent(ax, "the instrument measured nothing")
        return
    curve(ax, numbers["rates"], numbers["losses"], "after ten steps", THIS_RUN)
    reference(ax, numbers["first_loss"], "before the first step")
    ax.set_xscale("log")
    mark(ax, numbers["used"], "the script's learning rate")
    if math.isfinite(numbers["climbs"]):
        mark(ax, numbers["climbs"], "loss higher than before")
    if numbers["first_loss"] > 0:  # values that overshoot are cut off
        ax.set_ylim(0, 2 * numbers["first_loss"])
    end_labels(ax)
