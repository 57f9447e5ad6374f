"""Attention weights from the softmax to the matrix product that uses them, followed through one forward pass."""

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from bugzoo.diagnostics._lines import Line, user_line

_SAME = (
    "view",
    "_unsafe_view",
    "expand",
    "clone",
    "_to_copy",
    "detach",
    "alias",
    "reshape",
    "unsqueeze",
    "squeeze",
    "contiguous",
)
_MASKS = ("masked_fill", "mul", "where")
_PRODUCTS = ("bmm", "mm", "baddbmm", "matmul")


class AttentionRows(TorchDispatchMode):
    """Follows softmax outputs into matrix products, and sums the rows of the attention weights that are used there.

    `partial_share`: share of rows that, after masking, sum to neither 0 nor 1. `deficit`: how much these rows fall short
    on average. `wrong_axis`: products whose weights sum to 1 over the queries, not over the keys.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lines: dict[int | None, Line | None] = {}
        self.weights: dict[
            int | None, tuple[torch.Tensor, bool]
        ] = {}  # storage -> (kept alive, masked since the softmax)
        self.partial_share = self.deficit = 0.0
        self.products = self.wrong_axis = self.fused = 0
        self.where: Line | None = None

    @staticmethod
    def _key(tensor: Any) -> int | None:
        return tensor.untyped_storage().data_ptr() if isinstance(tensor, torch.Tensor) and tensor.numel() else None

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        name = function.__name__.split(".")[0].rstrip("_")
        if name.lstrip("_") in ("softmax", "safe_softmax"):
            self.weights[self._key(result)] = (result, False)
            self._lines[self._key(result)] = user_line()
        elif "scaled_dot_product" in name or "multi_head_attention" in name or "transformer_encoder_layer" in name:
            self.fused += 1
            self.where = self.where or user_line()
        elif self.weights:
            self._follow(name, args, result)
        return result

    def _follow(self, name: str, args: Any, result: Any) -> None:
        places = [arg for arg in args if isinstance(arg, torch.Tensor)]
        source = next((self.weights[self._key(arg)] for arg in places if self._key(arg) in self.weights), None)
        if source is None:
            return
        if name in _PRODUCTS:
            self.where = self.where or next(iter(self._lines.values()), None)
            if self._key(places[0]) in self.weights:
                self._used(places[0], self.weights[self._key(places[0])][1])
        elif name in _MASKS and isinstance(result, torch.Tensor) and result.shape == source[0].shape:
            self.weights[self._key(result)] = (result, True)
        elif name in _SAME and isinstance(result, torch.Tensor) and self._key(result) is not None:
            self.weights[self._key(result)] = (result, source[1])

    def _used(self, weights: torch.Tensor, masked: bool) -> None:
        if weights.ndim < 2 or weights.shape[-1] < 2:
            return
        self.products += 1
        rows, columns = weights.float().sum(-1), weights.float().sum(-2)
        if not masked and weights.shape[-2] > 1 and (columns - 1).abs().max() < 1e-3 and (rows - 1).abs().mean() > 1e-2:
            self.wrong_axis += 1
        partial = (rows > 1e-3) & (rows < 1 - 1e-3)
        if masked and partial.any():
            self.partial_share = max(self.partial_share, float(partial.float().mean()))
            self.deficit = max(self.deficit, float((1 - rows[partial]).mean()))
