"""Gradients that the script puts in place itself: it asks `torch.autograd.grad` for them and assigns `.grad`."""

from collections.abc import Iterable
from typing import Any

import torch
from torch import nn

RESEMBLES = 0.9
"""Cosine from which on what a gradient has too much counts as the older one: two vectors at random stay near 0."""


class ByHand:
    """What `torch.autograd.grad` returned since the last optimiser step, and what lay in `.grad` before."""

    def __init__(self) -> None:
        self.given: dict[int, torch.Tensor] = {}
        self.old: dict[int, torch.Tensor] = {}
        self.calls = 0

    @torch.no_grad()
    def before(self, parameters: list[nn.Parameter]) -> None:
        if not self.calls:
            self.old = {id(p): p.grad.clone() for p in parameters if p.grad is not None}
        self.calls += 1

    @torch.no_grad()
    def after(self, parameters: list[nn.Parameter], gradients: Iterable[torch.Tensor | None]) -> None:
        for p, gradient in zip(parameters, gradients, strict=True):
            if gradient is not None:
                known = self.given.get(id(p))
                self.given[id(p)] = gradient.detach().clone() if known is None else known + gradient

    @torch.no_grad()
    def kept_old(self, parameters: list[nn.Parameter]) -> bool:
        """Was an older gradient added to, rather than replaced? Then what is there beside the new one points its way."""
        rest, old = [], []
        for p in parameters:
            if p.grad is not None and id(p) in self.given and id(p) in self.old:
                rest.append((p.grad - self.given[id(p)]).flatten())
                old.append(self.old[id(p)].flatten())
        if not rest:
            return False
        one, other = torch.cat(rest).double(), torch.cat(old).double()
        return bool(one @ other > RESEMBLES * one.norm() * other.norm())


def parameters_of(inputs: Any) -> list[nn.Parameter] | None:
    """`inputs` as a list when all of them are parameters that are trained; None for a gradient penalty and the like."""
    listed = [inputs] if isinstance(inputs, torch.Tensor) else list(inputs)
    ours = listed and all(isinstance(p, nn.Parameter) and p.requires_grad for p in listed)
    return listed if ours else None


def loss_of(outputs: Any) -> torch.Tensor | None:
    """The one scalar that is differentiated, None where there are several."""
    if isinstance(outputs, list | tuple) and len(outputs) == 1:
        outputs = outputs[0]
    return outputs if isinstance(outputs, torch.Tensor) and outputs.numel() == 1 else None
