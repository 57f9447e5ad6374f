"""The state between two epochs. A replay does not re-run the code between epochs, so it must know the result."""

from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

MOST = 2**20
"""Largest tensor to keep, in bytes."""


@dataclass(slots=True)
class Between:
    """The state at an epoch's first forward pass: small variables, hyperparameters, the forward's arguments."""

    names: dict[str, tuple[Any, int]]
    """The value and, for a tensor, its version, which shows a later in-place change."""
    groups: list[tuple[Any, list[dict[str, Any]]]]
    args: tuple[Any, ...] | None
    empty: bool | None
    """Whether the gradients were cleared before the forward: to None (True), to zero (False), not yet (None)."""

    @classmethod
    def of(cls, names: dict[str, Any], optimizers: list[Any], args: tuple[Any, ...]) -> "Between":
        groups = [
            (o, [{key: v for key, v in group.items() if isinstance(v, float | int)} for group in o.param_groups])
            for o in optimizers
        ]
        grads = [p.grad for o in optimizers for group in o.param_groups for p in group["params"]]
        grads = [grad for grad in grads if grad is not None]
        empty = True if not grads else None if any(bool(grad.any()) for grad in grads) else False
        values = {
            name: (own(value), value._version if isinstance(value, torch.Tensor) else 0)
            for name, value in names.items()
            if _small(value)
        }
        return cls(values, groups, args if all(map(_small, args)) else None, empty)


def own(value: Any) -> Any:
    """Copy a list of integers, such as an order of samples, because it may be shuffled in place. Others are returned."""
    short = type(value) is list and 0 < len(value) <= 2**14
    return value[:] if short and type(value[0]) is int else value


def _small(value: Any) -> bool:
    """Return whether this is a number, a text, a small tensor without a graph, or a container with a few of those."""
    if isinstance(value, torch.Tensor):
        free = value.grad_fn is None and not value.requires_grad and value.layout is torch.strided
        return free and value.numel() * value.element_size() <= MOST
    if type(value) in (list, tuple, dict):
        if type(value) is list and len(value) > 64:
            return type(value[0]) is int and len(value) <= 2**14  # an order
        leaves = tree_leaves(value)
        return len(leaves) <= 64 and all(isinstance(leaf, torch.Tensor | int) and _small(leaf) for leaf in leaves)
    return isinstance(value, int | float | str)
