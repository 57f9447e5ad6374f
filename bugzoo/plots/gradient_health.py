"""Median gradient norm of each layer, first to last, on a log axis: smaller to the left means vanishing gradients."""

from typing import Any

import numpy as np

from bugzoo.plots._labels import end_labels, reference
from bugzoo.plots._palette import THIS_RUN
from bugzoo.plots._style import TEXT, absent, column, curve, numbers_of, prepare, trace_of

LABELS = 24
"""Most layer names that fit below the plot."""


def draw(data: Any, ax: Any) -> None:
    """Draw a point per layer from the numbers, or the total norm over the steps of a Trace or Run without them."""
    numbers = numbers_of(data, "gradient_health")
    if numbers and numbers.get("names"):
        norms, total = column(numbers["norms"]), float(numbers["total_norm"])
        points = np.maximum(norms, 1e-30)
        prepare(ax, "Gradient norm by layer (median over steps)", "", "norm")
        ax.plot(range(len(norms)), points, "o-", color=THIS_RUN, markersize=5, linewidth=1, label="one layer")
        reference(ax, max(total, 1e-30), "all layers together")
        ax.set_yscale("log")
        # points, not bars: a log axis has no zero to start from. Below two decades the axis exaggerates differences
        low, high = min(points.min(), total or 1e-30), max(points.max(), total)
        ax.set_ylim(low / 3, max(high * 3, low * 30))
        every = -(-len(norms) // LABELS)
        ax.set_xticks(range(0, len(norms), every), numbers["names"][::every], rotation=60, ha="right", fontsize=TEXT)
        end_labels(ax)
        return
    trace = trace_of(data)
    prepare(ax, "Gradient norm", "step", "norm")
    if trace is None or not curve(ax, trace.step, trace.grad_norm, "total", THIS_RUN):
        absent(ax, "no gradient norm was recorded")
        return
    ax.set_yscale("log")
