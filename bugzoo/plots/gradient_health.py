"""Typical gradient norm of each layer, first to last, on a logarithmic axis: a slope downwards to the left vanishes."""

from typing import Any

import numpy as np

from bugzoo.plots._style import GREY, THIS_RUN, absent, column, curve, legend, numbers_of, prepare, trace_of

LABELS = 24
"""Names that fit below the picture, one beside the other."""


def draw(data: Any, ax: Any) -> None:
    """From the numbers: a point per layer. From a Trace or a Run without numbers: the total norm over the steps."""
    numbers = numbers_of(data, "gradient_health")
    if numbers and numbers.get("names"):
        norms, total = column(numbers["norms"]), float(numbers["total_norm"])
        shown = np.maximum(norms, 1e-30)
        prepare(ax, "Gradient norm by layer (median over steps)", "", "norm")
        ax.plot(range(len(norms)), shown, "o-", color=THIS_RUN, markersize=5, linewidth=1, label="one layer")
        ax.axhline(max(total, 1e-30), color=GREY, linestyle="--", linewidth=1, label="all of them together")
        ax.set_yscale("log")
        # a bar would begin wherever the axis does; and an axis of less than two decades makes much of a small difference
        low, high = min(shown.min(), total or 1e-30), max(shown.max(), total)
        ax.set_ylim(low / 3, max(high * 3, low * 30))
        every = -(-len(norms) // LABELS)
        ax.set_xticks(range(0, len(norms), every), numbers["names"][::every], rotation=60, ha="right", fontsize=7)
        legend(ax)
        return
    trace = trace_of(data)
    prepare(ax, "Gradient norm", "step", "norm")
    if trace is None or not curve(ax, trace.step, trace.grad_norm, "total", THIS_RUN):
        absent(ax, "no gradient norm was recorded")
        return
    ax.set_yscale("log")
