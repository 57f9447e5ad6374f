"""What lies between two epochs: a replay that comes by there must not run it again, and must know what came of it."""

from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

MOST = 2**20
"""Bytes of a tensor that is kept."""


@dataclass(slots=True)
class Between:
    """As it stands at the first forward of an epoch: small variables, hyperparameters, the forward's arguments."""

    names: dict[str, tuple[Any, int]]
    """Value and, of a tensor, its version: one that was changed in place since is not what it was."""
    groups: list[tuple[Any, list[dict[str, Any]]]]
    args: tuple[Any, ...] | None
    empty: bool | None
    """Were the gradients cleared before the forward: to None (True), to zero (False), not yet (None)?"""

    @classmethod
    def of(cls, names: dict[str, Any], optimizers: list[Any], args: tuple[Any, ...]) -> "Between":
        groups = [
            (o, [{key: v for key, v in group.items() if isinstance(v, float | int)} for group in o.param_groups])
            for o in optimizers
        ]
        grads = [p.grad for o in optimizers for group in o.param_groups for p in group["params"]]
        grads = [grad for grad in grads if grad is not None]
        empty = True if not grads else None if any(bool(grad.any()) for grad in grads) else False
        kept = {
            name: (own(value), value._version if isinstance(value, torch.Tensor) else 0)
            for name, value in names.items()
            if _small(value)
        }
        return cls(kept, groups, args if all(map(_small, args)) else None, empty)


def own(value: Any) -> Any:
    """A list of whole numbers, such as an order, as it is now: it may be shuffled in place. Everything else itself."""
    short = type(value) is list and 0 < len(value) <= 2**14
    return value[:] if short and type(value[0]) is int else value


def _small(value: Any) -> bool:
    """A number, a text, a tensor without a graph, or a few of those in a container."""
    if isinstance(value, torch.Tensor):
        free = value.grad_fn is None and not value.requires_grad and value.layout is torch.strided
        return free and value.numel() * value.element_size() <= MOST
    if type(value) in (list, tuple, dict):
        if type(value) is list and len(value) > 64:
            return type(value[0]) is int and len(value) <= 2**14  # an order
        leaves = tree_leaves(value)
        return len(leaves) <= 64 and all(isinstance(leaf, torch.Tensor | int) and _small(leaf) for leaf in leaves)
    return isinstance(value, int | float | str)
