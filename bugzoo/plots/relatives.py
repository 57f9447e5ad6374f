"""How far away in the file does each sample's nearest one of its own class stand?

Where rows were drawn one by one, anywhere: the broken line, which is what chance gives. Where neighbours in the file have
something in common that is no label (a writer, a patient, an afternoon), the nearest are close by, and a split that mixes rows
puts such relatives on both sides.
"""

from collections.abc import Sequence

import numpy as np
import torch
from matplotlib.figure import Figure

from bugzoo.plots._style import BLUE, GREY, ORANGE, legend, prepare


def measure(inputs: torch.Tensor, labels: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    """(samples,) rows between each sample and its nearest one of the same class; the same to every other one of its class."""
    place = torch.arange(len(inputs))
    rows = (place[:, None] - place[None]).abs()
    others = (labels[:, None] == labels[None]) & (rows > 0)
    flat = inputs.flatten(1).double()
    nearest = torch.cdist(flat, flat).masked_fill(~others, float("inf")).argmin(1)
    return (nearest - place).abs().numpy(), rows[others].numpy()


def shares(found: np.ndarray, chance: np.ndarray, edges: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Both as shares of all samples between each two edges."""
    seen, expected = (np.histogram(one, edges)[0] / max(1, len(one)) for one in (found, chance))
    return seen, expected


def picture(inputs: torch.Tensor, labels: torch.Tensor, width: int = 70) -> Figure:
    """`width`: rows that are counted together."""
    found, chance = measure(inputs, labels)
    edges = list(range(0, len(inputs) + width, width))
    seen, expected = shares(found, chance, edges)
    figure = Figure(figsize=(7.5, 3.4), layout="constrained")
    figure.patch.set_alpha(0.0)
    ax = figure.subplots()
    prepare(ax, "Where the nearest sample of the same class stands", "rows away in the file", "share of samples")
    ax.bar(edges[:-1], seen, width * 0.9, align="edge", color=BLUE, label="nearest of its class")
    ax.stairs(expected, edges, color=ORANGE, linestyle="--", linewidth=2.2, label="any of its class")
    ax.grid(axis="y", color=GREY, alpha=0.3, linewidth=0.6)
    legend(ax)
    return figure
