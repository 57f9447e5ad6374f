"""Where non-finite numbers are in a model's weights: a heat map of each weight matrix, in the order of use.

Read it from right to left, as the backward pass goes: the nan entered in the layer after the last clean one. A row is a
unit; a column is one of its inputs.
"""

from typing import Any

import numpy as np
from matplotlib.colors import ListedColormap

from bugzoo.plots import _style
from bugzoo.plots._palette import INK, ON_COLOR, SERIES, THIS_RUN
from bugzoo.plots._style import TEXT, prepare

COLORS = (SERIES[3], THIS_RUN)
"""Of what is finite, and of what is not."""
FEW = 3
"""Most rows that are labeled one by one."""


def measure(model: Any) -> dict[str, np.ndarray]:
    """Return name of each weight with two or more axes -> (units, inputs), 1.0 where it is not finite."""
    matrices = {}
    for name, weight in model.named_parameters():
        if weight.dim() >= 2:
            flat = weight.detach().flatten(1).cpu()
            matrices[name.removesuffix(".weight")] = (~flat.isfinite()).double().numpy()
    return matrices


def draw(name: str, lost: np.ndarray, ax: Any) -> None:
    """Draw one matrix: `lost` is (units, inputs) of 0 and 1."""
    prepare(ax, f"{name}:\n{lost.mean():.1%} is not finite", f"{lost.shape[1]} inputs", f"{lost.shape[0]} units")
    ax.imshow(lost, cmap=ListedColormap(COLORS), vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    rows = np.flatnonzero(lost.any(axis=1))
    ax.set_xticks([])
    ax.set_yticks([])
    if 0 < len(rows) <= FEW:
        for row in rows:
            below = row < 0.8 * len(lost)
            place = (0.5 * lost.shape[1], row + (0.14 if below else -0.14) * len(lost))
            look = {"ha": "center", "va": "center", "fontsize": TEXT, "color": ON_COLOR}
            arrow = {"arrowstyle": "->", "color": ON_COLOR, "linewidth": 1.5}
            ax.annotate(f"unit {row}", (0.5 * lost.shape[1], row), place, arrowprops=arrow, **look)


def picture(model: Any) -> Any:
    """Return all matrices side by side, the first layer on the left."""
    matrices = measure(model)
    figure = _style.figure(3.0, 3.0 * len(matrices))
    for ax, (name, lost) in zip(figure.subplots(1, len(matrices), squeeze=False)[0], matrices.items(), strict=True):
        draw(name, lost, ax)
    colors = "cyan: finite · orange: not finite · the backward pass comes from the right"
    figure.supxlabel(colors, color=INK, fontsize=TEXT)
    return figure
