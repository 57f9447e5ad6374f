"""How hard a loss pulls at the answer to one sample, from surely wrong to surely right.

Left the loss, right the length of its gradient with respect to the logits. A good loss pulls hardest where the answer is surely
wrong and lets go where it is right; one whose pull is small at both ends never gets a sure mistake back.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure

from bugzoo.plots._style import BLUE, GREY, ORANGE, STYLES, legend, prepare

BEHIND = -12.0
"""Logit of the classes that take no part: far below the two that do."""


def measure(loss: Callable[[Any, Any], Any], lead: np.ndarray, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """(losses, lengths of their gradients) of single rows, in which the right class leads its strongest rival by `lead`."""
    logits = torch.full((len(lead), classes), BEHIND)
    logits[:, 0], logits[:, 1] = torch.tensor(lead) / 2, -torch.tensor(lead) / 2
    values, pulls = [], []
    for row in logits:
        at = row[None].clone().requires_grad_(True)
        value = loss(at, torch.zeros(1, dtype=torch.long))
        (gradient,) = torch.autograd.grad(value, at)
        values.append(value.item())
        pulls.append(gradient.norm().item())
    return np.array(values), np.array(pulls)


def picture(losses: Mapping[str, Callable[[Any, Any], Any]], classes: int, end: float = 10.0) -> Figure:
    """One curve for each loss, of rows whose right class leads by -`end` to `end`."""
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    figure.patch.set_alpha(0.0)
    left, right = figure.subplots(1, 2)
    below = "sure and wrong  ←  lead of the right class  →"
    prepare(left, "the loss", below, "nats")
    prepare(right, "how hard it pulls at the answer", below, "length of the gradient")
    lead = np.linspace(-end, end, 201)
    for number, (name, loss) in enumerate(losses.items()):
        values, pulls = measure(loss, lead, classes)
        for ax, y in ((left, values), (right, pulls)):
            ax.plot(lead, y, STYLES[number % 4], color=(BLUE, ORANGE)[number % 2], linewidth=2, label=name)
    for ax in (left, right):
        ax.axvline(0, color=GREY, linewidth=1)
        ax.set_ylim(bottom=0)
        legend(ax)
    return figure
