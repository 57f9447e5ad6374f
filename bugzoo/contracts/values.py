"""Small looks at tensors, as tensors with one number: on a GPU they are fetched later."""

from typing import Any

import torch

_SAME_NUMBERS = (
    "View", "ReshapeAlias", "UnsafeView", "Squeeze", "Unsqueeze", "Select", "Slice", "Transpose", "Permute", "T", "Alias",
    "ToCopy", "Clone",
)  # fmt: skip
"""Autograd nodes that move numbers and do not change them."""
FAR = 8


def largest(value: torch.Tensor) -> torch.Tensor:
    return value.amax()


def smallest(value: torch.Tensor) -> torch.Tensor:
    return value.amin()


def off_from_one(value: torch.Tensor, dim: int) -> torch.Tensor:
    """Return the largest distance of a sum along `dim` from 1."""
    return (value.double().sum(dim) - 1).abs().amax()


SAID = {"Softmax": "a softmax", "Sigmoid": "a sigmoid", "Exp": "`exp`", "Softplus": "a softplus"}
"""What a sentence calls an operation that `made_by` returns."""


def made_by(value: Any) -> str:
    """Return the operation that a tensor comes from, such as "Softmax", through views and copies. "" without a graph."""
    node = value.grad_fn if isinstance(value, torch.Tensor) else None
    for _ in range(FAR):
        if node is None:
            return ""
        name = node.name().split("Backward")[0]
        if name not in _SAME_NUMBERS:
            return name
        node = node.next_functions[0][0] if node.next_functions else None
    return ""
