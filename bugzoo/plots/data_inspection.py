"""Do neighbours share their label? Measured beside what shuffled labels would give."""

from typing import Any

from bugzoo.plots._style import absent, bars, numbers_of, prepare


def draw(data: Any, ax: Any) -> None:
    """`data`: the instrument's numbers, or a Run that carries them."""
    numbers = numbers_of(data, "data_inspection") or {}
    prepare(ax, "Neighbours with the same label", "share")
    rows = {"measured": numbers.get("neighbour_agreement"), "shuffled labels": numbers.get("chance_agreement")}
    if not bars(ax, rows):
        absent(ax, "too few samples with labels were kept")
        return
    ax.set_xlim(0, 1.1)
