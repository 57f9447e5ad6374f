"""Small looks at tensors, as tensors with one number: on a GPU they are fetched later."""

import torch


def largest(value: torch.Tensor) -> torch.Tensor:
    return value.amax()


def smallest(value: torch.Tensor) -> torch.Tensor:
    return value.amin()


def off_from_one(value: torch.Tensor, dim: int) -> torch.Tensor:
    """Return the largest distance of a sum along `dim` from 1."""
    return (value.double().sum(dim) - 1).abs().amax()
