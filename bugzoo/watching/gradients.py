"""Gradients of one optimizer: their norms at every step, and the gradient left from the step before."""

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
    """The watch's record of one optimizer between its steps."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.fresh = False  # at some backward since the last step, there was no older gradient
        self.left: Any = None  # norm of the old gradient at the first backward
        self.layouts: dict[Any, Layout] = {}
        self.seen: tuple[int, ...] = ()
        self.params: list[nn.Parameter] = []
        self.before: list[torch.Tensor] | None = None
        self.joins = False  # its running step() belongs to the row of another optimizer
        self.last: Any = None  # norms of the gradients at the step before

    def meet(self, optimizer: torch.optim.Optimizer, parameters: Parameters) -> None:
        """Record the optimizer's parameters, and again after a group was added or has grown."""
        sizes = tuple([len(group["params"]) for group in optimizer.param_groups])
        if sizes != self.seen:
            self.seen, self.layouts = sizes, {}
            self.params = [p for group in optimizer.param_groups for p in group["params"]]
            parameters.add_optimizer(optimizer, self.index)

    def look_for_leftover(self) -> None:
        """Check, before a backward pass, whether an older gradient is still in `.grad`."""
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
        """Handle gradients set by hand: an older one counts only if it is still included."""
        if not self.fresh and self.left is not None and not by_hand.kept_old(self.params):
            self.fresh = True

    def leftover(self, norm: Any, backwards: int, values: Any) -> Any:
        """Return the old gradient's norm divided by `norm`, the gradient norm at the step. 0 means a fresh gradient.

        `backwards`: backward calls since the step before. `values`: norms of the single gradients.
        """
        last, self.last = self.last, values
        if self.fresh:
            return 0.0
        if not backwards:  # a step without its own backward: the gradient is old unless it has changed
            return 1.0 if unchanged(last, values) else NAN
        if self.left is None:
            return 0.0
        if isinstance(norm, float) and not norm > 0:
            return NAN
        return self.left / norm

    def take(self, parameters: Parameters) -> tuple[Layout, Any, Any]:
        """Return the layout, the norm of each gradient, and the total norm (NaN without gradients)."""
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
    def moved(self) -> tuple[Any, Any]:
        """Return |parameter change in this step| and |parameters before it|."""
        before, self.before = self.before or [], None
        change: Any = torch._foreach_sub([p.detach() for p in self.params], before)  # pyright: ignore
        return total(gradient_norms(change)), total(gradient_norms(before))


def unchanged(one: Any, other: Any) -> bool:
    """Return whether two rows of norms are equal, up to the effect of clipping twice."""
    if one is None or other is None or not len(one) or len(one) != len(other):
        return False
    return bool(torch.allclose(torch.as_tensor(one), torch.as_tensor(other), rtol=1e-4, atol=0))


def gradient_norms(tensors: list[torch.Tensor]) -> Any:
    """Return L2 norms: a list of floats for tensors on the CPU, else a 1-D tensor on the first tensor's device.

    On the CPU, one call per tensor takes half the time of `_foreach_norm`. On CUDA, `_foreach_norm` is faster. fp16 and
    bf16 are summed in float32. If a sum of squares overflows although no element does, it is repeated in float64.
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
    """Return the total norm: a float, or a tensor if the parts are still on a device."""
    return norms.norm() if isinstance(norms, torch.Tensor) else hypot(*norms)
