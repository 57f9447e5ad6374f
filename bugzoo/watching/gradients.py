"""Gradients of one optimiser: their norms at every step, and what was left of the step before."""

from itertools import compress
from math import hypot, inf
from typing import Any

import torch
from torch import nn

from bugzoo.watching.byhand import ByHand
from bugzoo.watching.parameters import Parameters
from bugzoo.watching.table import NAN, Layout

_norm = torch.linalg.vector_norm


class OptimizerState:
    """What the watch remembers of one optimiser between its steps."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.fresh = False  # at some backward since the last step, no older gradient was there
        self.left: Any = None  # norm of the gradient found at the first backward
        self.layouts: dict[Any, Layout] = {}
        self.seen: tuple[int, ...] = ()
        self.params: list[nn.Parameter] = []
        self.before: list[torch.Tensor] | None = None
        self.last: Any = None  # norms of the gradients at the step before

    def meet(self, optimizer: torch.optim.Optimizer, parameters: Parameters) -> None:
        """Note the optimiser's parameters, again when a group was added or has grown."""
        sizes = tuple([len(group["params"]) for group in optimizer.param_groups])
        if sizes != self.seen:
            self.seen, self.layouts = sizes, {}
            self.params = [p for group in optimizer.param_groups for p in group["params"]]
            parameters.add_optimizer(optimizer, self.index)

    def look_for_leftover(self) -> None:
        """Before a backward pass: is an older gradient still there?"""
        old = [g for g in [p.grad for p in self.params] if g is not None]
        if not old:
            self.fresh = True
            return
        left = total(gradient_norms(old))
        if isinstance(left, float) and left == 0.0:
            self.fresh = True
        elif self.left is None:
            self.left = left

    def handed(self, by_hand: ByHand) -> None:
        """The script put the gradients in place itself: an older one counts only where it is still in there."""
        if not self.fresh and self.left is not None and not by_hand.kept_old(self.params):
            self.fresh = True

    def leftover(self, norm: Any, backwards: int, values: Any) -> Any:
        """Norm of the gradient left from before, over `norm`, that of the gradient at the step; 0 is fresh.

        `backwards`: calls since the step before. `values`: norms of the single gradients.
        """
        last, self.last = self.last, values
        if self.fresh:
            return 0.0
        if not backwards:  # a step without a backward of its own: old where nothing else was put there
            return 1.0 if unchanged(last, values) else NAN
        if self.left is None:
            return 0.0
        if isinstance(norm, float) and not norm > 0:
            return NAN
        return self.left / norm

    def take(self, parameters: Parameters) -> tuple[Layout, Any, Any]:
        """Layout, norm of each gradient, and the norm of all of it (NaN where there is none)."""
        all_grads = [p.grad for p in self.params]
        present = tuple([g is not None for g in all_grads])
        layout = self.layouts.get(present)
        if layout is None:
            columns = list(compress(parameters.columns(self.params), present))
            layout = self.layouts[present] = Layout(columns)
        grads: list[Any] = all_grads if len(layout.columns) == len(all_grads) else list(compress(all_grads, present))
        if not grads:
            return layout, [], NAN
        values = gradient_norms(grads)
        return layout, values, total(values)

    @torch.no_grad()
    def update_ratio(self) -> Any:
        """|change of the parameters in this step| / |parameters before it|; NaN where that is 0."""
        before, self.before = self.before or [], None
        change: Any = torch._foreach_sub([p.detach() for p in self.params], before)  # pyright: ignore
        size, moved = total(gradient_norms(before)), total(gradient_norms(change))
        if isinstance(size, float):
            return moved / size if size else NAN
        return moved / size


def unchanged(one: Any, other: Any) -> bool:
    """Are the two rows of norms alike, but for what clipping twice may change?"""
    if one is None or other is None or not len(one) or len(one) != len(other):
        return False
    return bool(torch.allclose(torch.as_tensor(one), torch.as_tensor(other), rtol=1e-4, atol=0))


def gradient_norms(tensors: list[torch.Tensor]) -> Any:
    """L2 norms: a list of floats for tensors on the CPU, else a 1-D tensor on the first tensor's device.

    On the CPU a call for each tensor takes half of `_foreach_norm`'s time; on CUDA it is the other way round. Half types
    are summed in float32. A sum of squares that overflows where no element does is taken again in float64.
    """
    first = tensors[0]
    if first.requires_grad:  # create_graph=True: without this the norms would join the graph
        tensors = [t.detach() for t in tensors]
    if first.is_cuda:
        return _on_device(tensors, first.device)
    try:
        if first.dtype is torch.float32:
            norms = [_norm(t).item() for t in tensors]
        else:
            norms = [_norm(t, dtype=_wide(t)).item() for t in tensors]
    except (RuntimeError, NotImplementedError):  # sparse gradients
        tensors = [_dense(t) for t in tensors]
        norms = [_norm(t, dtype=_wide(t)).item() for t in tensors]
    if inf in norms:
        norms = [n if n != inf else _norm(t, dtype=_widest(t)).item() for n, t in zip(norms, tensors, strict=True)]
    return norms


def _on_device(tensors: list[torch.Tensor], device: torch.device) -> torch.Tensor:
    norms = None
    if tensors[0].dtype is torch.float32:
        try:
            norms = torch._foreach_norm(tensors)  # pyright: ignore[reportPrivateImportUsage]
        except (RuntimeError, NotImplementedError):  # sparse gradients
            pass
    if norms is None:
        norms = [_norm(_dense(t), dtype=_wide(t)) for t in tensors]
    return torch.stack([n.to(device) for n in norms])


def _dense(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.coalesce()._values() if tensor.is_sparse else tensor


def _wide(tensor: torch.Tensor) -> torch.dtype | None:
    return torch.float32 if tensor.dtype in (torch.float16, torch.bfloat16) else None


def _widest(tensor: torch.Tensor) -> torch.dtype:
    return torch.complex128 if tensor.is_complex() else torch.float64


def total(norms: Any) -> Any:
    """The norm of all of it: a float, or a tensor where the parts are still on a device."""
    return norms.norm() if isinstance(norms, torch.Tensor) else hypot(*norms)
