"""Loss curves of all ranks: equal curves mean the same data, a curve that ends early means a hang."""

from typing import Any

from bugzoo.plots._style import BLUE, GREEN, ORANGE, PURPLE, STYLES, absent, curve, legend, prepare

_COLOURS = (BLUE, ORANGE, GREEN, PURPLE)


def draw(data: Any, ax: Any) -> None:
    """Draw from `data`, a Run with ranks."""
    prepare(ax, "Loss by rank", "step", "loss")
    ranks = list(getattr(data, "ranks", []))
    lines = [
        curve(ax, run.trace.step, run.trace.loss, f"rank {i}", _COLOURS[i % 4], STYLES[i // 4 % 4 if i >= 4 else i % 4])
        for i, run in enumerate(ranks)
    ]
    if not any(lines):
        absent(ax, "the script ran in one process")
        return
    legend(ax)
