"""What somebody else needs to work out a step once more: weights, batch, random state, and the gradients that were used.

A `Witness` is asked for some steps, whose numbers nobody told the script. Of each it says at once, in few letters, what it
keeps (`told`): those leave the process with the step's line, so that nothing of it can be written anew afterwards.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from bugzoo.watching import graph as graphs

MOST_MIB = 48
MOST_CALLS = 4
"""Calls of the model in one step, of which one may be that of the loss."""
PREFIX = "witness"
WRAPPERS = ("module.", "_orig_mod.")
HALF = (torch.float16, torch.bfloat16)


class Witness:
    """Keeps copies at the steps in `wanted`; its methods are called by the recorder and draw no randomness."""

    def __init__(self, wanted: list[int]) -> None:
        self.wanted, self.found, self.held = set(wanted), {}, 0
        self._model: nn.Module | None = None
        self._now: dict[str, torch.Tensor] = {}
        self._calls = 0
        self._put: list[Any] = []

    def at_forward(self, step: int, module: nn.Module, args: tuple[Any, ...]) -> None:
        """A call of a model with gradients; of several models the largest counts."""
        if step not in self.wanted or self.held > MOST_MIB * 2**20:
            return
        tensors = [one for one in args if isinstance(one, torch.Tensor)]
        if module is not self._model:
            if self._model is not None and _size(module) <= _size(self._model):
                return
            self._model, self._now, self._calls = module, {}, 0
        if len(tensors) != 1 or len(args) != 1 or self._calls == MOST_CALLS:
            return
        end = f".{self._calls}" if self._calls else ""
        self._calls += 1
        self._now |= {f"rng{end}": torch.get_rng_state(), f"inputs{end}": tensors[0].detach().clone()}
        if not end:
            state = module.state_dict()
            self._now |= {f"weights.{plain(name)}": value.detach().clone() for name, value in state.items()}
            self._now["training"] = torch.tensor([float(module.training)])

    def at_loss(self, step: int, loss: torch.Tensor) -> None:
        if step in self.wanted and self._now and "targets" not in self._now:
            targets = graphs.targets(loss)
            if targets is not None:
                self._now["targets"] = targets.clone()

    def at_step(self, step: int, optimizer: torch.optim.Optimizer) -> None:
        """Just before the optimiser changes the weights, behind all hooks of its own."""
        if step not in self.wanted:
            return
        if optimizer._optimizer_step_pre_hooks:
            self._put.append(optimizer.register_step_pre_hook(lambda *call: self.keep(step)))
        else:
            self.keep(step)

    def after_step(self) -> None:
        """The optimiser has made its step."""
        self._now, self._model, self._calls = {}, None, 0
        while self._put:
            self._put.pop().remove()

    def keep(self, step: int) -> None:
        """What was seen since the step before, with the gradients as they are now."""
        now, model = self._now, self._model
        self._now, self._model, self._calls = {}, None, 0
        if "inputs" not in now or model is None or step in self.found or step not in self.wanted:
            return
        for name, parameter in model.named_parameters():
            if parameter.grad is not None:
                now[f"grads.{plain(name)}"] = parameter.grad.detach().clone()
        self.found[step] = now
        self.held += sum(value.numel() * value.element_size() for value in now.values())

    def told(self, step: int) -> str | None:
        """What is kept of a step, in 32 letters; "" where nothing could be, None where it was not asked for."""
        if step not in self.wanted:
            return None
        return digest(_numbers(self.found[step])) if step in self.found else ""

    def arrays(self) -> dict[str, np.ndarray]:
        """`witness.STEP.WHAT` -> numbers: rng, inputs, targets where a loss of torch's keeps them, training, weights.NAME,
        grads.NAME; rng.1, inputs.1 and so on of more calls."""
        return {
            f"{PREFIX}.{step}.{name}": value
            for step, now in self.found.items()
            for name, value in _numbers(now).items()
        }


def digest(now: Mapping[str, np.ndarray]) -> str:
    """Of what was kept of one step: other numbers, names or shapes have another one."""
    made = hashlib.blake2b(digest_size=16)
    for name, value in sorted(now.items()):
        made.update(f"{name} {value.dtype.str} {value.shape} ".encode())
        made.update(np.ascontiguousarray(value).tobytes())
    return made.hexdigest()


def plain(name: str) -> str:
    """A parameter's name without what DDP and torch.compile wrap around a model."""
    for wrapper in WRAPPERS:
        name = name.removeprefix(wrapper)
    return name


def _numbers(now: Mapping[str, torch.Tensor]) -> dict[str, np.ndarray]:
    on_cpu = ((name, value.cpu()) for name, value in now.items())
    return {name: (value.float() if value.dtype in HALF else value).numpy() for name, value in on_cpu}


def _size(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())
