"""A model called again: alone, in a mode of the caller's choice, on copies of what it was called with."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_map

from bugzoo.errors import NotApplicable
from bugzoo.rerun.restore import unchanged
from bugzoo.running.result import Run
from bugzoo.watching.live import Live


def live(run: Run) -> Live:
    """The run's live objects. Raises NotApplicable where the trace came from a file or another process."""
    found = run.trace.live
    if found is None:
        raise NotApplicable("needs the live model; this trace has numbers only")
    return found


@contextmanager
def quiet(model: torch.nn.Module, training: bool = False) -> Iterator[torch.nn.Module]:
    """`model` in the given mode without autograd; modes, buffers and random numbers are as before afterwards."""
    with unchanged(model), torch.no_grad():
        for module in model.modules():
            module.training = training
        yield model


def call(model: torch.nn.Module, args: Any, kwargs: Any) -> torch.Tensor:
    """The main output, in float32, of one call with copies of the arguments; (batch, ...) as the model gives it.

    It sets torch's seed to 0: call it within `quiet`. Raises NotApplicable where the output holds no tensor of numbers, and
    whatever the model raises.
    """
    args, kwargs = tree_map(lambda leaf: leaf.clone() if isinstance(leaf, torch.Tensor) else leaf, (args, kwargs))
    torch.manual_seed(0)
    return main_output(model(*args, **kwargs)).float()


def tensors(tree: Any) -> list[torch.Tensor]:
    """All tensors in nested arguments or outputs, in order; fields of output objects as well."""
    leaves = tree_flatten(tree)[0]
    found = []
    for leaf in leaves:
        if isinstance(leaf, torch.Tensor):
            found.append(leaf)
        elif hasattr(leaf, "__dataclass_fields__"):
            found += [value for value in vars(leaf).values() if isinstance(value, torch.Tensor)]
    return found


def main_output(tree: Any) -> torch.Tensor:
    """What the loss most likely reads: `.logits` where there is one, else the first floating tensor that is no scalar.

    Raises NotApplicable when there is none.
    """
    logits = tree.get("logits") if isinstance(tree, dict) else getattr(tree, "logits", None)
    if isinstance(logits, torch.Tensor):
        return logits
    for tensor in tensors(tree):
        if tensor.is_floating_point() and tensor.ndim >= 1:
            return tensor
    raise NotApplicable("the model's output holds no tensor of numbers that could be compared")
