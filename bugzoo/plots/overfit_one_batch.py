"""Loss on one batch before and after a fresh copy of the model has learnt it by heart."""

from typing import Any

from bugzoo.plots._style import absent, bars, numbers_of, prepare


def draw(data: Any, ax: Any) -> None:
    """`data`: the instrument's numbers, or a Run that carries them."""
    numbers = numbers_of(data, "overfit_one_batch")
    prepare(ax, "One batch by heart", "loss")
    if not numbers or not bars(ax, {"before": numbers["first_loss"], "after": numbers["best_loss"]}):
        absent(ax, "the loss could not be computed again")
