"""Typical gradient norm of each layer, first to last, on a logarithmic axis: a slope downwards to the left vanishes."""

from typing import Any

import numpy as np

from bugzoo.plots._style import BLUE, GREY, ORANGE, absent, column, curve, numbers_of, prepare, trace_of


def draw(data: Any, ax: Any) -> None:
    """From the numbers: a bar per layer. From a Trace or a Run without numbers: the total norm over the steps."""
    numbers = numbers_of(data, "gradient_health")
    if numbers and numbers.get("names"):
        norms = np.maximum(column(numbers["norms"]), 1e-30)
        prepare(ax, "Gradient norm by layer", "", "norm (median over steps)")
        ax.bar(range(len(norms)), norms, color=BLUE, alpha=0.85)
        ax.axhline(numbers["total_norm"], color=ORANGE, linestyle="--", linewidth=1)
        ax.set_yscale("log")
        ax.set_xticks(range(len(norms)), numbers["names"], rotation=60, ha="right", color=GREY, fontsize=7)
        return
    trace = trace_of(data)
    prepare(ax, "Gradient norm", "step", "norm")
    if trace is None or not curve(ax, trace.step, trace.grad_norm, "total", BLUE):
        absent(ax, "no gradient norm was recorded")
        return
    ax.set_yscale("log")
