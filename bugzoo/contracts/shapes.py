"""`Tensor.view` and `Tensor.reshape`: what they do not do."""

import math
from collections.abc import Sequence
from typing import Any

import torch

from bugzoo.contracts.model import PAGES, Call, Contract, Numbers

_WHAT = ("torch.Tensor.view", "torch.Tensor.reshape", "torch.reshape")
_USES = "batch, heads, length, width = 8, 2, 5, 6\nx = torch.randn(batch, length, heads * width)\n"


def _like(self: Any, *shape: Any) -> Any:
    """Take what `view`, `reshape` and `torch.reshape(input, shape)` take."""


def moved(before: Sequence[int], after: Sequence[int]) -> bool:
    """Return whether a reshape has the shape that a transposition or permutation would have, and not its order of elements.

    Axes of length 1 do not count, and leading axes that stay are left out. What is left is a permutation of itself, or
    (p, q, ...) becomes (q, p ...), or (q, p r) becomes (p, q, r): an axis has passed another one.
    """
    old, new = [length for length in before if length > 1], [length for length in after if length > 1]
    while old and new and old[0] == new[0]:
        old, new = old[1:], new[1:]
    if len(old) >= 2 and sorted(old) == sorted(new):
        return True
    if len(old) >= 3 and len(new) == 2:
        return old[0] != old[1] == new[0]
    return len(old) == 2 and len(new) == 3 and old[0] != new[0] and old[0] == new[1]


def _moved(call: Call) -> Numbers | None:
    """Look at the shapes of a tensor of the script's own, before and after."""
    tensor = call["self"]
    if not isinstance(tensor, torch.Tensor) or not isinstance(call.result, torch.Tensor) or tensor.dim() < 2:
        return None
    before, after = tuple(tensor.shape), tuple(call.result.shape)
    if math.prod(before) != math.prod(after):  # a view as another dtype
        return None
    return {"before": str(before), "after": str(after), "moved": float(moved(before, after))}


CONTRACTS = (
    Contract(
        name="reshape_is_no_transpose",
        on=_WHAT,
        demand="`view` and `reshape` keep the order of the elements: only `transpose` and `permute` let an axis pass another.",
        given="The shape {before} becomes {after}: the elements stay in their order, so that rows are mixed.",
        instead="Call `transpose` or `permute` first, then `reshape` what belongs together.",
        page=PAGES + "generated/torch.Tensor.view.html",
        kind="shape",
        measure=_moved,
        broken=lambda numbers: numbers["moved"] > 0,
        breaks=_USES + "x.view(batch, heads, length, width)",
        keeps=(
            _USES + "y = x.view(batch, length, heads, width).transpose(1, 2)\n"
            "y.transpose(1, 2).reshape(batch, length, heads * width)\ny.reshape(batch * heads, length, width)\n"
            "x.view(-1, width).view(batch, -1).view(1, batch, -1).view(batch, 1, -1)\nx.reshape(batch, -1)\n"
            "torch.randn(1, 8).view(8, 1)\ntorch.randn(4, 3, 32, 32).reshape(2, 2, 3, 8, 4, 8, 4)"
        ),
        wrong="A flat list of numbers that is cut anew, where the first shape meant nothing.",
        explains=("by itself",),
        causes=("shape/view_instead_of_permute", "shape/channels_last_confused", "attention/heads_mixed"),
        after=True,
        own=True,
        like=_like,
    ),
)
