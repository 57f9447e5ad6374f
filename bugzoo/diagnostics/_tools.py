"""What several instruments need: finite columns, the live model in a state that can be asked questions, tensors in
trees."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch.utils._pytree import tree_flatten, tree_map

from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.running.result import Run

DROPOUTS = (torch.nn.modules.dropout._DropoutNd,)
NORMS = (torch.nn.modules.batchnorm._BatchNorm,)


def column(values: Any) -> np.ndarray:
    """(S,) as float64."""
    return np.asarray(values, dtype=np.float64).reshape(-1)


def interleaved(trace: Any) -> int:
    """Number of optimisers that take turns (two players); 1 where they follow one another (folds, phases)."""
    optimizer = column(trace.optimizer)
    optimizer = optimizer[np.isfinite(optimizer)]
    kinds, turns = len(np.unique(optimizer)), int((np.diff(optimizer) != 0).sum()) + 1
    return kinds if turns > kinds else min(1, kinds)


def median(values: Any, default: float = math.nan) -> float:
    """Median of the finite entries, `default` when there are none."""
    kept = column(values)
    kept = kept[np.isfinite(kept)]
    return float(np.median(kept)) if len(kept) else default


def need_steps(run: Run, least: int = 1) -> int:
    """Number of optimiser steps. Raises NotApplicable when there are fewer than `least`."""
    steps = len(column(run.trace.step))
    if steps < least:
        raise NotApplicable(f"{steps} optimiser steps were seen; at least {least} are needed")
    return steps


def live(run: Run) -> Any:
    """The run's live objects. Raises NotApplicable where the trace came from a file or another process."""
    found = getattr(run.trace, "live", None)
    if found is None:
        raise NotApplicable("needs the live model; this trace has numbers only")
    return found


def batches(run: Run) -> list[Any]:
    """Batches of the model that was trained most. Raises NotApplicable where none were kept."""
    found = list(live(run).batches)
    if not found:
        raise NotApplicable("no batch was seen going into a model")
    main = model_of(run, found[0])
    return [batch for batch in found if model_of(run, batch) is main]


def model_of(run: Run, batch: Any) -> torch.nn.Module:
    """The root module that was called with `batch`."""
    module = getattr(batch, "module", None)
    if module is None:
        models = live(run).models
        if not models:
            raise NotApplicable("no model was seen")
        module = models[0]
    return module


@contextmanager
def quiet(model: torch.nn.Module, training: bool = False) -> Iterator[torch.nn.Module]:
    """`model` in the given mode without autograd; modes, buffers and random numbers are as before afterwards."""
    modes = {module: module.training for module in model.modules()}
    buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}
    devices = [torch.cuda.current_device()] if torch.cuda.is_available() and torch.cuda.is_initialized() else []
    with torch.random.fork_rng(devices=devices), torch.no_grad():
        try:
            for module in modes:
                module.training = training
            yield model
        finally:
            for module, mode in modes.items():
                module.training = mode
            for name, buffer in model.named_buffers():
                if name in buffers and buffer.shape == buffers[name].shape:
                    buffer.copy_(buffers[name])


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


def call(model: torch.nn.Module, args: Any, kwargs: Any) -> torch.Tensor:
    """The main output, in float32, of one call with copies of the arguments; (batch, ...) as the model gives it."""
    args, kwargs = tree_map(lambda leaf: leaf.clone() if isinstance(leaf, torch.Tensor) else leaf, (args, kwargs))
    torch.manual_seed(0)
    return main_output(model(*args, **kwargs)).float()


def share(value: float) -> str:
    """A share as text: 0.317 -> 32 %."""
    return f"{value:.0%}" if value >= 0.005 or value == 0 else f"{value:.2%}"


def pick(numbers: dict[str, Any], *keys: str) -> dict[str, float]:
    """The named numbers as floats, for a Verdict."""
    return {key: float(numbers[key]) for key in keys if isinstance(numbers.get(key), int | float)}
