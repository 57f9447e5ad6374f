"""Recording inside the submission's process, after its run: numbers only, no verdict and no target.

This module is imported before the submission's first line, so that it sees the unmodified torch.
"""

import json
import os
import sys
import zipfile
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch.optim import optimizer as optimizers  # pyright: ignore[reportAttributeAccessIssue]
from torch.optim.optimizer import register_optimizer_step_pre_hook

from bugzoo.diagnostics import instrument, measure_all, names
from bugzoo.grading import both_modes
from bugzoo.grading.rows import sketch
from bugzoo.running import Reading

_WATCHED = (
    (F, ("cross_entropy", "nll_loss", "softmax", "log_softmax", "relu", "mse_loss", "scaled_dot_product_attention")),
    (torch, ("softmax", "log_softmax", "log", "relu", "no_grad", "isnan", "isfinite", "manual_seed", "argmax")),
    (torch.Tensor, ("backward", "log", "softmax", "item", "argmax", "__getattribute__")),
    (torch.nn.Module, ("__call__", "_call_impl", "parameters", "state_dict", "named_parameters", "load_state_dict")),
    (torch.optim.Adam, ("step", "zero_grad")),
    (torch.optim.Optimizer, ("zero_grad", "register_step_pre_hook")),
    (torch.autograd, ("backward", "grad")),
    (torch.amp, ("GradScaler", "autocast")),
    (torch.nn.utils, ("clip_grad_norm_",)),
    # what writes the results
    (np, ("savez", "asarray", "asanyarray", "array", "concatenate", "stack", "frombuffer", "save", "lib")),
    (np.lib.format, ("write_array", "write_array_header_1_0", "header_data_from_array_1_0")),
    (np.lib.npyio, ("NpzFile",)),
    (zipfile.ZipFile, ("__init__", "open", "write", "writestr", "close")),
    (json, ("dumps", "loads")),
    (json.JSONEncoder, ("encode", "iterencode", "default")),
    (os, ("open", "write", "replace", "rename", "fsync")),
)


def _parts() -> Iterator[tuple[str, Any]]:
    """Yield (name, object) of all that measures and writes: the parts named above, and all loaded bugzoo modules."""
    for owner, watched in _WATCHED:
        for name in watched:
            yield f"{owner.__name__}.{name}", getattr(owner, name, None)
            yield from _function(f"{owner.__name__}.{name}", getattr(owner, name, None))
    rooms = [(name, module) for name, module in sys.modules.items() if name.split(".")[0] == "bugzoo"]
    for room, module in sorted(rooms):
        for name, value in list(vars(module).items()):
            if isinstance(value, type) and value.__module__ == room:
                for part, method in list(vars(value).items()):
                    yield from _function(f"{room}.{name}.{part}", method)
            elif isinstance(value, type):
                yield f"{room}.{name}", value
            else:
                yield from _function(f"{room}.{name}", value)


def _function(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield a function and its code, which can be replaced without touching the name."""
    inner = getattr(value, "fget", None) or getattr(value, "__func__", None) or value
    if isinstance(inner, FunctionType):
        yield name, value
        yield f"{name}()", inner.__code__


# torch wraps a class's step() when its first optimizer is created: create one, so that this does not count as a change
for _kind in (torch.optim.Adam, torch.optim.AdamW, torch.optim.SGD):
    _kind([torch.zeros(1, requires_grad=True)], lr=0.1)
for _name in names():
    instrument(_name)
# does nothing, but has to be there, as the watch's hooks are
_hook = register_optimizer_step_pre_hook(lambda *call: None)


def _batches(run: Any) -> list[list[Any]]:
    """Return [input rows, targets] of the kept batches: sketches of numbers, tokens as they are."""
    batches = []
    model, shape = run.namespace.get("model"), None
    inner = set(model.modules()) - {model} if isinstance(model, torch.nn.Module) else set()
    for batch in run.trace.live.batches:
        inputs = next((x for x in batch.args if isinstance(x, torch.Tensor)), None)
        if inputs is None:
            continue
        inputs = inputs.detach().cpu()
        shape = inputs.shape[1:] if shape is None else shape
        if inputs.is_floating_point() and inputs.shape[1:] != shape and batch.module in inner:
            continue  # inputs of a new head come from the model around it, so they are not data
        # a hand-written loss has no node from which to read targets
        targets = [] if batch.targets is None else _classes(batch.targets.detach().cpu()).reshape(-1).tolist()
        rows = inputs.tolist() if not inputs.is_floating_point() else [sketch(row.float().numpy()) for row in inputs]
        batches.append([rows, targets])
    return batches


def _classes(targets: torch.Tensor) -> torch.Tensor:
    """Return class indices, also for targets given as class probabilities."""
    if targets.is_floating_point() and targets.ndim > 1 and torch.allclose(targets.sum(-1), torch.ones(())):
        return targets.argmax(-1)
    return targets


def _hooks() -> Any:
    return optimizers._global_optimizer_pre_hooks


def _shuffled(run: Any, inputs: np.ndarray) -> list[Any]:
    """Return the model's outputs with shuffled parameters; outputs from a stored table would not get worse."""
    model = run.namespace["model"]
    state = {name: value.detach().clone() for name, value in model.state_dict().items()}
    generator = torch.Generator().manual_seed(1)
    values = torch.as_tensor(inputs)
    if values.is_floating_point():
        values = values.to(next(model.parameters()).dtype)
    try:
        with torch.no_grad():
            for parameter in model.parameters():
                order = torch.randperm(parameter.numel(), generator=generator)
                parameter.copy_(parameter.flatten()[order].view_as(parameter))
            model.eval()
            answers = model(values).float()
            classes = answers.ndim > 1 and answers.shape[-1] > 1
            return (answers.argmax(-1) if classes else answers.reshape(-1)).tolist()
    finally:  # restore the parameters, also of a model that cannot be called
        model.load_state_dict(state)


def _sealed() -> Callable[..., dict[str, Reading]]:
    """Return `examine`, with all that it calls in this module bound before the submission's first line."""
    parts, measure, batches, shuffled, hooks = _parts, measure_all, _batches, _shuffled, _hooks
    in_modes = both_modes.measure

    def examine(
        run: Any,
        control: list[Any] | None = None,
        dtype: str = "float32",
        spared: list[str] | None = None,
        modes: bool = False,
    ) -> dict[str, Reading]:
        """Return readings of all instruments but the `spared`, and under "integrity" data, budget and size.

        With `modes` also what the model does in train mode and in eval mode, with gradients and without (`both_modes`).
        """
        now = dict(parts())
        changed = sorted({name.removesuffix("()") for name, value in before.items() if now.get(name) is not value})
        if _hook.id not in hooks():
            changed.append("torch's hooks")
        note: dict[str, Any] = {"changed": changed, "steps": len(run.trace.step), "batches": [], "control": []}
        readings = measure(run, [name for name in every if name not in (spared or ())])
        readings |= {name: Reading(why_not="it runs on the first seed, if at all") for name in spared or ()}
        try:
            note["batches"] = batches(run)
            if control is not None:
                note["control"] = shuffled(run, np.asarray(control, dtype=dtype))
            if modes:
                note["both_modes"] = in_modes(run)
        except Exception as error:  # the model may be anything; a missing one is judged outside
            note["problem"] = f"{type(error).__name__}: {error}"[:300]
        return readings | {"integrity": Reading(note)}

    before, every = dict(parts()), names()
    return examine


examine = _sealed()
