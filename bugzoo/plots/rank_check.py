"""Loss curves of all ranks: equal curves mean the same data, a curve that ends early means a hang."""

from typing import Any

from bugzoo.plots._labels import end_labels
from bugzoo.plots._palette import SERIES, STYLES
from bugzoo.plots._style import absent, curve, prepare


def draw(data: Any, ax: Any) -> None:
    """Draw from `data`, a Run with ranks."""
    prepare(ax, "Loss by rank", "step", "loss")
    ranks = list(getattr(data, "ranks", []))
    lines = [
        curve(ax, run.trace.step, run.trace.loss, f"rank {i}", SERIES[i % 5], STYLES[(i + i // 5) % 5])
        for i, run in enumerate(ranks)
    ]
    if not any(lines):
        absent(ax, "the script ran in one process")
        return
    end_labels(ax)
