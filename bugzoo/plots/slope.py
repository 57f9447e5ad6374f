"""A function beside its derivative from autograd: where the value is harmless and the gradient is not.

The left plot shows values, the right one gradients. Where a gradient runs off the plot while the value is an ordinary
number, a run gets a non-finite gradient from a finite loss.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from bugzoo.plots import _style
from bugzoo.plots._labels import legend
from bugzoo.plots._palette import INK, STYLES, colors_of
from bugzoo.plots._style import TEXT, prepare


def measure(function: Callable[[Any], Any], x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (values, slopes) at each `x`, in float32 as in a network."""
    at = torch.tensor(x, dtype=torch.float32, requires_grad=True)
    values = function(at)
    (slopes,) = torch.autograd.grad(values.sum(), at)
    return values.detach().numpy(), slopes.numpy()


def picture(functions: Mapping[str, Callable[[Any], Any]], end: float = 0.5) -> Any:
    """Return curves from 0 to `end`; a non-finite value at 0 is marked and labeled."""
    figure, colors = _style.figure(3.2), colors_of(functions)
    left, right = figure.subplots(1, 2)
    prepare(left, "the value", "x")
    prepare(right, "its gradient", "x")
    x = np.linspace(0, end, 400)
    for number, (name, function) in enumerate(functions.items()):
        values, slopes = measure(function, x)
        for ax, y in ((left, values), (right, slopes)):
            look = {"color": colors[name], "linestyle": STYLES[number % len(STYLES)], "linewidth": 2}
            ax.plot(x[1:], y[1:], **look, label=f"{name}  (at 0: {y[0]:g})")
    for ax in (left, right):
        ax.axvline(0, color=INK, linewidth=1)
        low, high = ax.get_ylim()
        steep = max(abs(low), abs(high)) > 20
        ax.set_ylim(max(low, -6), min(high, 40) if steep else high)
        legend(ax, 1)
    right.plot([0], [0], "X", color=INK, markersize=9, clip_on=False)
    right.annotate("not finite", (0, 0), (8, -16), textcoords="offset points", color=INK, fontsize=TEXT)
    return figure
