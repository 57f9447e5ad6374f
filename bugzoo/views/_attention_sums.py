"""The sum of the attention weights of each query, followed from the softmax to the product that uses them."""

import math
from collections.abc import Sequence
from typing import Any

import torch

from bugzoo.diagnostics import attention_scale
from bugzoo.diagnostics._attention import AttentionRows
from bugzoo.running.result import Run
from bugzoo.views import _draw

LAYERS, QUERIES = 6, 32
"""Most layers and queries that are drawn."""


class AttentionSums(AttentionRows):
    """Also keeps, for each product, the sum of the attention weights of each query."""

    def __init__(self) -> None:
        super().__init__()
        self.sums: list[torch.Tensor] = []

    def _used(self, weights: torch.Tensor, masked: bool) -> None:
        super()._used(weights, masked)
        if weights.ndim >= 2 and weights.shape[-1] >= 2:
            sums = weights.detach().float().sum(-1)
            self.sums.append((sums.flatten(0, -2) if weights.ndim > 2 else sums[None]).cpu())


def means(attention: AttentionSums) -> list[list[float]]:
    """Return the mean sum of each query, layer by layer. A fused kernel keeps its weights to itself."""
    return [sums.mean(0)[:QUERIES].tolist() for sums in attention.sums[:LAYERS]]


def extremes(attention: AttentionSums) -> tuple[float | None, float | None]:
    """Return the smallest and the largest sum of a row, without rows that are masked entirely, which sum to 0."""
    rows = torch.cat([sums.flatten() for sums in attention.sums] or [torch.zeros(0)])
    rows = rows[rows > 1e-3]
    return (float(rows.min()), float(rows.max())) if len(rows) else (None, None)


def scale(run: Run) -> float | None:
    """Return the factor on the scores, times sqrt of the width that they are a sum over; None without attention."""
    try:
        scores = attention_scale.measure(run)
    except Exception:  # no attention, or a model that cannot be followed
        return None
    return scores.factor * math.sqrt(scores.width)


def drawable(layers: Sequence[Sequence[float]]) -> bool:
    """Return whether there is a sum to draw."""
    return any(math.isfinite(value) for sums in layers for value in sums)


def draw(ax: Any, layers: Sequence[Sequence[float]]) -> None:
    """Draw one line a layer over the queries."""
    _draw.prepare(ax, "", "query position", "sum of an\nattention row")
    _draw.band(ax, 0.99, 1.01, "")
    for place, sums in enumerate(layers):
        _draw.line(ax, range(len(sums)), sums, f"layer {place + 1}", place, ("-", "--", ":")[place % 3])
    top = max(1.0, *(value for sums in layers for value in sums if math.isfinite(value)))
    ax.set_ylim(0.0, 1.3 * top)
    ax.xaxis.get_major_locator().set_params(integer=True)
    _draw.legend(ax)
