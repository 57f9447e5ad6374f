"""The first loss beside what guessing costs."""

from typing import Any

from bugzoo.plots._style import absent, bars, numbers_of, prepare


def draw(data: Any, ax: Any) -> None:
    """`data`: the instrument's numbers, or a Run that carries them."""
    numbers = numbers_of(data, "initial_loss")
    prepare(ax, "Loss before any learning", "nats")
    if not numbers or not bars(ax, {"first loss": numbers["first_loss"], "ln C": numbers["chance"]}):
        absent(ax, "the loss is no cross-entropy over classes")
