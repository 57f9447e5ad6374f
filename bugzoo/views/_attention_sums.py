"""The sum of the attention weights of each query, followed from the softmax to the product that uses them."""

import math
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
            sums = (
                weights.detach().float().sum(-1).flatten(0, -2) if weights.ndim > 2 else weights.float().sum(-1)[None]
            )
            self.sums.append(sums.cpu())


def numbers_of(attention: AttentionSums) -> dict[str, Any]:
    """Return the mean sum of each query, layer by layer, and the extremes; {} without attention.

    A row that is masked entirely sums to 0, and is left out of the extremes. A fused kernel keeps its weights to itself.
    """
    count = attention.products + attention.fused
    if not count:
        return {}
    numbers: dict[str, Any] = {
        "attention": float(count),
        "sums": [one.mean(0)[:QUERIES].tolist() for one in attention.sums[:LAYERS]],
    }
    rows = torch.cat([one.flatten() for one in attention.sums] or [torch.zeros(0)])
    rows = rows[rows > 1e-3]
    return numbers | ({"lowest_sum": float(rows.min()), "highest_sum": float(rows.max())} if len(rows) else {})


def scale(run: Run) -> dict[str, float]:
    """Return the factor on the scores, times sqrt of the width that they are a sum over; {} without attention."""
    try:
        found = attention_scale.measure(run)
    except Exception:  # no attention, or a model that cannot be followed
        return {}
    return {"scale": found["factor"] * math.sqrt(found["width"])}


def seen(numbers: dict[str, Any]) -> bool:
    """Is there a sum to draw?"""
    return any(math.isfinite(one) for sums in numbers.get("sums", []) for one in sums)


def draw(ax: Any, numbers: dict[str, Any]) -> None:
    """Draw one line a layer over the queries."""
    _draw.prepare(ax, "", "query position", "sum of an\nattention row")
    _draw.band(ax, 0.99, 1.01, "")
    for place, sums in enumerate(numbers["sums"]):
        _draw.line(ax, range(len(sums)), sums, f"layer {place + 1}", place, ("-", "--", ":")[place % 3])
    top = max(1.0, *(one for sums in numbers["sums"] for one in sums if math.isfinite(one)))
    ax.set_ylim(0.0, 1.3 * top)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend(
        frameon=False, labelcolor=_draw.GREY, fontsize=7, ncols=3, loc="upper left", columnspacing=0.7, handlelength=1.2,
        handletextpad=0.3, borderaxespad=0.0,
    )  # fmt: skip
