"""The lowest loss of the run beside the lowest loss possible with a double softmax."""

from typing import Any

from bugzoo.plots._style import absent, bars, numbers_of, prepare


def draw(data: Any, ax: Any) -> None:
    """Draw from `data`: the instrument's numbers, or a Run that carries them."""
    numbers = numbers_of(data, "double_normalisation")
    prepare(ax, "Can the loss fall?", "nats")
    if not numbers or not bars(
        ax,
        {"lowest loss": numbers["lowest_loss"], "lowest possible with a double softmax": numbers["floor"]},
        numbers["floor"],
    ):
        absent(ax, "the loss does not apply a softmax")
