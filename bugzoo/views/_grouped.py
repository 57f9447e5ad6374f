"""Tensors in as many rows as fit: one tensor a row, else one module a row, else the largest tensors."""

import math

from bugzoo.views._tensors import Tensor

MOST = 24
"""Rows that fit into a picture."""
LETTERS = 34


def rows(tensors: list[Tensor]) -> list[tuple[str, list[Tensor]]]:
    """Return (label, tensors of the row)."""
    alone = [(f"{_short(tensor.name)}  {'×'.join(map(str, tensor.shape)) or 'scalar'}", [tensor]) for tensor in tensors]
    if len(tensors) <= MOST:
        return alone
    for depth in range(max(tensor.name.count(".") for tensor in tensors), 0, -1):
        parts: dict[str, list[Tensor]] = {}
        for tensor in tensors:
            parts.setdefault(".".join(tensor.name.split(".")[:depth]), []).append(tensor)
        if len(parts) <= MOST:
            many = [(name, part, f" ({len(part)} tensors)" if len(part) > 1 else "") for name, part in parts.items()]
            return [(_short(name) + text, part) for name, part, text in many]
    return [alone[place] for place in largest(tensors, MOST)]


def largest(tensors: list[Tensor], most: int) -> list[int]:
    """Return the places of the `most` largest tensors, in the order of the model."""
    return sorted(sorted(range(len(tensors)), key=lambda place: -math.prod(tensors[place].shape))[:most])


def _short(name: str) -> str:
    """Return a name that fits: without its middle if it is long."""
    return name if len(name) <= LETTERS else f"{name[: LETTERS // 2]}…{name[-LETTERS // 2 + 1 :]}"
