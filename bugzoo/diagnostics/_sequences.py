"""Finding out, from the tensors alone, which argument is a sequence, where its padding is and what the model predicts from it."""

from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten


@dataclass
class Call:
    """Arguments of one call as a flat list of leaves, so that one of them can be replaced."""

    leaves: list[Any]
    spec: Any

    @classmethod
    def of(cls, batch: Any) -> "Call":
        return cls(*tree_flatten((tuple(batch.args), dict(batch.kwargs))))

    def arguments(self, replace: dict[int, Any] | None = None) -> tuple[Any, Any]:
        leaves = [(replace or {}).get(index, leaf) for index, leaf in enumerate(self.leaves)]
        return tree_unflatten(leaves, self.spec)

    def main(self) -> int | None:
        """The leaf that is most likely the input: token ids first, then the largest floating-point tensor."""
        tokens = [i for i, x in enumerate(self.leaves) if is_tokens(x)]
        if tokens:
            return tokens[0]
        floats = [
            i
            for i, x in enumerate(self.leaves)
            if isinstance(x, torch.Tensor) and x.is_floating_point() and x.ndim >= 2
        ]
        return max(floats, key=lambda i: self.leaves[i].numel(), default=None)

    def alone(self, index: int, batch: int, length: int, keep: int, axis: int = 0) -> tuple[Any, Any]:
        """The arguments for sample `index` only, every axis of `length` cut to `keep`; `axis` (or 0) is the batch."""
        changed = {}
        for place, leaf in enumerate(self.leaves):
            if not isinstance(leaf, torch.Tensor) or not leaf.ndim:
                continue
            dim = next((a for a in (axis, 0) if a < leaf.ndim and leaf.shape[a] == batch), None)
            part = leaf if dim is None else leaf.narrow(dim, index, 1)
            for other in range(part.ndim):
                if part.shape[other] == length and other != dim:
                    part = part.narrow(other, 0, keep)
            changed[place] = part
        return self.arguments(changed)


def is_tokens(value: Any) -> bool:
    """A (batch, time) table of integers with more than two values (not a mask)."""
    if not isinstance(value, torch.Tensor) or value.ndim != 2 or value.is_floating_point() or value.dtype == torch.bool:
        return False
    return min(value.shape) > 1 and int(value.amax()) > 1


def lengths(x: torch.Tensor) -> torch.Tensor | None:
    """(batch,) number of positions before the padding of (batch, time) tokens or (batch, time, features); else None.

    Padding is one constant token (or an all-zero frame) that fills the ends, differs in amount between samples, and
    is rare elsewhere.
    """
    if x.ndim == 3 and x.is_floating_point():
        filler = x.abs().sum(-1) == 0
    elif is_tokens(x):
        filler = x == x[:, -1].mode().values
    else:
        return None
    tails = filler.flip(1).int().cumprod(1).sum(1)
    body = filler.sum() - tails.sum()
    if tails.unique().numel() < 2 or tails.float().mean() < 0.05 * x.shape[1] or body > 0.02 * filler.sum():
        return None
    return x.shape[1] - tails


def shifted(x: torch.Tensor, targets: torch.Tensor | None) -> tuple[int, bool] | None:
    """(time axis, is the target the input itself?) when `targets` hold the input one position later, else None."""
    if targets is None or x.ndim < 2 or min(x.shape[:2]) < 3:
        return None
    for axis in (1, 0):
        later = x.narrow(axis, 1, x.shape[axis] - 1)
        if targets.numel() == x.numel():
            table = targets.reshape(x.shape)
            if _equal(table.narrow(axis, 0, x.shape[axis] - 1), later):
                return axis, False
            if axis == 1 and x.is_floating_point() is False and _equal(table, x):
                return axis, True
        elif targets.numel() == later.numel() and _equal(targets.reshape(later.shape), later):
            return axis, False
    return None


def two_ahead(x: torch.Tensor, targets: torch.Tensor | None) -> bool:
    """Are `targets` the tokens (batch, time) of `x` two positions later, with any number cut off at the ends?"""
    if targets is None or not is_tokens(x) or targets.is_floating_point() or targets.numel() % len(x):
        return False
    table = targets.reshape(len(x), -1)
    time = min(table.shape[1], x.shape[1] - 2)
    return time >= 3 and _equal(table[:, :time], x[:, 2 : 2 + time])


def _equal(a: torch.Tensor, b: torch.Tensor) -> bool:
    if a.is_floating_point() or b.is_floating_point():
        same = (a.float() - b.float()).abs() < 1e-4
        return bool(same.float().mean() > 0.9) and bool(b.float().std() > 0)
    counted = a >= 0  # below zero: ignored targets
    return bool(counted.any()) and bool((a == b)[counted].float().mean() > 0.9) and b.unique().numel() > 2


def changed(x: torch.Tensor, axis: int, start: int) -> torch.Tensor:
    """`x` with everything from `start` on along `axis` replaced by other plausible values of the same kind."""
    new = x.clone()
    part = new.narrow(axis, start, x.shape[axis] - start)
    if x.is_floating_point():
        part.add_(torch.randn_like(part) * (x.float().std().to(x.dtype) + 1e-3))
    else:
        values = x.reshape(-1)[torch.randint(x.numel(), part.shape, device=x.device)]
        part.copy_(torch.where(values == part, x.reshape(-1)[0].expand_as(values), values))
    return new


def moved(before: torch.Tensor, after: torch.Tensor, axis: int, start: int) -> tuple[float, float]:
    """Mean movement of outputs before `start` along `axis`, and from it on."""
    change = (after - before).abs()
    return float(change.narrow(axis, 0, start).mean()), float(
        change.narrow(axis, start, change.shape[axis] - start).mean()
    )
