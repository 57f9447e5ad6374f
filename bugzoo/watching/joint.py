"""The latest row of the trace, while further optimizers may step on the gradients of the same batch.

A step is one batch, however many optimizers it takes: one for the head and one for the rest, or one for each parameter
that steps within backward(). The first one makes the row, the others join it. A new forward or backward pass ends it.
"""

from collections.abc import Callable
from math import hypot, isnan
from typing import Any

import torch

from bugzoo.watching.table import NAN

Moved = tuple[Any, Any]
"""|change of the parameters| and |parameters before it|."""


class Joint:
    """The row and the step that an optimizer may join, and the numbers of those that have."""

    def __init__(self) -> None:
        self.open = False
        self.row, self.step, self.backwards = 0, 1, 0
        self._members: set[int] = set()
        self._norm: Any = NAN
        self._left: Any = 0.0
        self._moved: Moved | None = None

    def begin(self, row: int, step: int, backwards: int, index: int, norm: Any, left: Any, moved: Moved | None) -> None:
        """Open the row of optimizer `index`, if backward passes of its own came before it."""
        self.open, self.row, self.step, self.backwards = backwards > 0, row, step, backwards
        self._members, self._norm, self._left, self._moved = {index}, norm, left, moved

    def takes(self, index: int) -> bool:
        """Return whether optimizer `index` belongs to the open row: at its second step it follows old gradients."""
        return self.open and index not in self._members

    def add(self, index: int, norm: Any, left: Any, moved: Moved | None) -> dict[str, Any]:
        """Join an optimizer. Returns column -> number of the whole row: the norm over all gradients, the update over all
        parameters, and the largest share of an old gradient."""
        self._members.add(index)
        self._norm, self._left = _over_all(self._norm, norm), _larger(self._left, left)
        columns = {"grad_norm": self._norm, "leftover": self._left}
        if moved is not None:
            self._moved = moved if self._moved is None else tuple(map(_over_all, self._moved, moved))  # pyright: ignore
            columns["update_ratio"] = ratio(self._moved)
        return columns


def ratio(moved: Moved | None) -> Any:
    """Return |change| / |before|, NaN if the latter is 0 or unknown."""
    if moved is None:
        return NAN
    change, size = moved
    return change / size if isinstance(size, torch.Tensor) or size else NAN


def _over_all(one: Any, other: Any) -> Any:
    """Return the norm of two parts; NaN stands for a part without gradients."""
    one, other = _alike(one, other)
    return (one**2 + other**2) ** 0.5 if isinstance(one, torch.Tensor) else _known(hypot, one, other)


def _larger(one: Any, other: Any) -> Any:
    one, other = _alike(one, other)
    return torch.maximum(one, other) if isinstance(one, torch.Tensor) else _known(max, one, other)


def _known(both: Callable[[float, float], float], one: float, other: float) -> float:
    return other if isnan(one) else one if isnan(other) else both(one, other)


def _alike(one: Any, other: Any) -> tuple[Any, Any]:
    """Return two floats as they are. If one is a tensor, both are tensors on its device."""
    device = next((value.device for value in (one, other) if isinstance(value, torch.Tensor)), None)
    if device is None:
        return one, other
    parts = [torch.as_tensor(value, device=device, dtype=torch.float64) for value in (one, other)]
    return parts[0], parts[1]
