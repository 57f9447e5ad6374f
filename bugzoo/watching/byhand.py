"""Gradients set by hand: the script calls `torch.autograd.grad` and assigns `.grad` itself."""

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import nn

UNEXPLAINED, PARALLEL = 1e-4, 1e-6
"""Least share of the gradient that the new one does not explain, and least share of the old one in another direction."""


class ByHand:
    """The results of `torch.autograd.grad` since the last optimizer step, and the `.grad` from before."""

    def __init__(self) -> None:
        self.given: dict[int, torch.Tensor] = {}
        self.old: dict[int, torch.Tensor] = {}
        self.calls = 0

    @torch.no_grad()
    def before(self, parameters: Sequence[nn.Parameter | None]) -> None:
        if not self.calls:
            self.old = {id(p): p.grad.clone() for p in parameters if p is not None and p.grad is not None}
        self.calls += 1

    @torch.no_grad()
    def after(self, parameters: Sequence[nn.Parameter | None], gradients: Iterable[torch.Tensor | None]) -> None:
        for p, gradient in zip(parameters, gradients, strict=True):
            if p is not None and gradient is not None and gradient.shape == p.shape:  # not one for each sample
                earlier = self.given.get(id(p))
                self.given[id(p)] = gradient.detach().clone() if earlier is None else earlier + gradient

    @torch.no_grad()
    def kept_old(self, parameters: list[nn.Parameter]) -> bool:
        """Return whether the new gradient was added to an older one instead of replacing it.

        The current gradient is fitted as a * given + b * old, by least squares. Clipping scales a and b alike. The old
        one is included if it explains most of the part that the new one, at any scale, does not.
        """
        now, given, old = [], [], []
        for p in parameters:
            if p.grad is not None and id(p) in self.given and id(p) in self.old:
                now.append(p.grad.flatten())
                given.append(self.given[id(p)].flatten())
                old.append(self.old[id(p)].flatten())
        if not now:
            return False
        y, new, other = (torch.cat(parts).double() for parts in (now, given, old))
        if not bool(new.norm() > 0):
            return bool(y.norm() > 0)
        left = y - (y @ new) / (new @ new) * new
        across = other - (other @ new) / (new @ new) * new
        if not bool(across.norm() > PARALLEL * other.norm()):
            return False  # old and new have the same direction, so this cannot be decided
        share = (left @ across) / (across @ across)
        rest = left - share * across
        return bool((share > 0) & (left.norm() > UNEXPLAINED * y.norm()) & (rest.norm() < 0.3 * left.norm()))


def parameters_of(inputs: Any) -> list[nn.Parameter] | None:
    """Return `inputs` as a list if all are trainable parameters, None otherwise (a gradient penalty, for example)."""
    listed: list[Any] = [inputs] if isinstance(inputs, torch.Tensor) else list(inputs)
    trainable = listed and all(isinstance(p, nn.Parameter) and p.requires_grad for p in listed)
    return listed if trainable else None


def loss_of(outputs: Any) -> torch.Tensor | None:
    """Return the scalar that is differentiated, None if there are several."""
    if isinstance(outputs, list | tuple) and len(outputs) == 1:
        outputs = outputs[0]
    return outputs if isinstance(outputs, torch.Tensor) and outputs.numel() == 1 else None
