"""A function beside its slope, as autograd works it out: where a value is harmless and the slope is not.

Left the values, right the slopes. A curve that runs off the sheet at the edge, while what is left of its value is an ordinary
number, is a place where a run loses its gradient and not its loss.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure

from bugzoo.plots._style import BLUE, GREEN, GREY, ORANGE, RED, STYLES, legend, prepare


def measure(function: Callable[[Any], Any], x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(values, slopes) at each `x`, in float32 as a network has them."""
    at = torch.tensor(x, dtype=torch.float32, requires_grad=True)
    values = function(at)
    (slopes,) = torch.autograd.grad(values.sum(), at)
    return values.detach().numpy(), slopes.numpy()


def picture(functions: Mapping[str, Callable[[Any], Any]], end: float = 0.5) -> Figure:
    """Curves from 0 to `end`; what is not finite at 0 itself is marked and named there."""
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    figure.patch.set_alpha(0.0)
    left, right = figure.subplots(1, 2)
    prepare(left, "the value", "x")
    prepare(right, "its slope", "x")
    x = np.linspace(0, end, 400)
    for number, (name, function) in enumerate(functions.items()):
        values, slopes = measure(function, x)
        for ax, y in ((left, values), (right, slopes)):
            colour = (BLUE, ORANGE, GREEN)[number % 3]
            ax.plot(
                x[1:], y[1:], STYLES[number % len(STYLES)], color=colour, linewidth=2, label=f"{name}  (at 0: {y[0]:g})"
            )
    for ax in (left, right):
        ax.axvline(0, color=GREY, linewidth=1)
        low, high = ax.get_ylim()
        steep = max(abs(low), abs(high)) > 20
        ax.set_ylim(max(low, -6), min(high, 40) if steep else high)
        legend(ax)
    right.plot([0], [0], "X", color=RED, markersize=9, clip_on=False)
    right.annotate("no number", (0, 0), (8, -16), textcoords="offset points", color=RED, fontsize=9)
    return figure
