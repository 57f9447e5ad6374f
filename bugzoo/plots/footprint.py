"""Where non-finite numbers are in a model's weights: a heat map of each weight matrix, in the order of use.

Read it from right to left, as the backward pass goes: the nan entered in the layer after the last clean one. A row is a
unit; a column is one of its inputs.
"""

from typing import Any

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from bugzoo.plots._style import GREY, RED, SKY, prepare

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
    prepare(ax, f"{name}: {lost.mean():.1%} is not finite", f"{lost.shape[1]} inputs", f"{lost.shape[0]} units")
    ax.imshow(lost, cmap=ListedColormap([SKY, RED]), vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    rows = np.flatnonzero(lost.any(axis=1))
    ax.set_xticks([])
    ax.set_yticks([])
    if 0 < len(rows) <= FEW:
        for row in rows:
            arrow = {"arrowstyle": "->", "color": "black", "linewidth": 1.5}
            below = row < 0.8 * len(lost)
            place = (0.5 * lost.shape[1], row + (0.14 if below else -0.14) * len(lost))
            ax.annotate(f"unit {row}", (0.5 * lost.shape[1], row), place, ha="center", va="center", arrowprops=arrow)


def picture(model: Any) -> Figure:
    """Return all matrices side by side, the first layer on the left."""
    matrices = measure(model)
    figure = Figure(figsize=(3.0 * len(matrices), 3.4), layout="constrained")
    for ax, (name, lost) in zip(figure.subplots(1, len(matrices), squeeze=False)[0], matrices.items(), strict=True):
        draw(name, lost, ax)
    label = "blue: finite · orange: not finite · the backward pass comes from the right"
    figure.supxlabel(label, color=GREY, fontsize=9)
    figure.patch.set_alpha(0.0)
    return figure
