"""Shares of the parameters that do not take part in training, by reason."""

from typing import Any

from bugzoo.plots._style import absent, bars, numbers_of, prepare

_ROWS = {"frozen": "frozen_share", "frozen at random": "frozen_at_random_share",
         "in no optimiser": "not_in_optimizer_share", "never moved": "unchanged_share"}  # fmt: skip


def draw(data: Any, ax: Any) -> None:
    """`data`: the instrument's numbers, or a Run that carries them."""
    numbers = numbers_of(data, "parameter_audit")
    prepare(ax, "Parameters outside of training", "share of elements")
    if not numbers or not bars(ax, {name: numbers.get(key, 0.0) for name, key in _ROWS.items()}):
        absent(ax, "no parameters were seen")
        return
    ax.set_xlim(0, 1.1)
