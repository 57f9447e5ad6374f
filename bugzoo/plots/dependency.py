"""Relative movement of outputs where nothing should move; 0 is right."""

from typing import Any

from bugzoo.plots._style import absent, bars, numbers_of, prepare


def draw(data: Any, ax: Any) -> None:
    """`data`: the instrument's numbers, or a Run that carries them."""
    numbers = numbers_of(data, "dependency")
    prepare(ax, "What reaches an output that should not", "movement / usual movement")
    keys = ("batch_leak", "future_leak", "padding_leak")
    if not numbers or not bars(ax, {key.replace("_leak", ""): numbers[key] for key in keys if key in numbers}):
        absent(ax, "the model could not be asked")
