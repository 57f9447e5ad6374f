"""What becomes of a signal, and of the gradients, in a deep stack of linear layers and ReLUs.

Each layer multiplies by a little less or more than 1, and twelve of them by its twelfth power: a sloping line on a logarithmic
scale, on the left. On the right the lengths of the weights' gradients: level lines, at very different heights. What a layer's
gradient lacks from below it has from above, so that no layer is the first to suffer.
"""

from collections.abc import Mapping

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import nn

from bugzoo.plots._style import BLUE, GREEN, ORANGE, STYLES, legend, prepare


def measure(scale: float, layers: int = 12, width: int = 128, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """(deviation of each layer's output, norm of each layer's weight gradient); `scale` times sqrt(2 / width) is drawn with."""
    generator = torch.Generator().manual_seed(seed)
    stack = [nn.Linear(width, width, bias=False) for _ in range(layers)]
    signal = torch.randn(256, width, generator=generator)
    spread = []
    for layer in stack:
        with torch.no_grad():
            layer.weight.copy_(scale * (2 / width) ** 0.5 * torch.randn(width, width, generator=generator))
        signal = torch.relu(layer(signal))
        spread.append(signal.std().item())
    signal.backward(torch.randn(256, width, generator=generator) / 256)
    gradients = [layer.weight.grad for layer in stack]
    return np.array(spread), np.array([0.0 if one is None else one.norm().item() for one in gradients])


def picture(scales: Mapping[str, float], layers: int = 12) -> Figure:
    """One line for each way to draw the weights."""
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    figure.patch.set_alpha(0.0)
    panels = figure.subplots(1, 2)
    for number, (name, scale) in enumerate(scales.items()):
        for ax, values in zip(panels, measure(scale, layers), strict=True):
            places, colour = range(1, layers + 1), (BLUE, ORANGE, GREEN)[number % 3]
            ax.semilogy(places, values, STYLES[number % 4], color=colour, linewidth=2, marker=".", label=name)
    prepare(panels[0], "forward: how far the outputs spread", "layer")
    prepare(panels[1], "backward: length of the gradient", "layer")
    legend(panels[0])
    return figure
