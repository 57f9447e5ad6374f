"""The loss of one batch, repeated through the program's own step, with half of the first loss."""

from typing import Any

from bugzoo.plots._labels import end_labels, mark, reference
from bugzoo.plots._palette import THIS_RUN
from bugzoo.plots._style import absent, curve, numbers_of, prepare


def draw(data: Any, ax: Any) -> None:
    """Draw from the numbers; a Trace does not have them."""
    numbers = numbers_of(data, "overfit_one_batch")
    prepare(ax, "Overfitting one batch", "repetition", "loss")
    if not numbers or not numbers.get("losses"):
        absent(ax, "the instrument measured nothing")
        return
    curve(ax, numbers["repetitions"], numbers["losses"], "the program's own step", THIS_RUN)
    reference(ax, numbers["first_loss"] / 2, "half of the first loss")
    if numbers.get("lost_step", 0) > 0:
        mark(ax, numbers["lost_step"], "loss is not finite")
    ax.set_ylim(bottom=0)
    end_labels(ax)
