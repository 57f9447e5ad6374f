"""The modules and activation functions that one call of the model runs, in order, with statistics of their outputs."""

import contextlib
import math
import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from bugzoo.diagnostics._tools import batches, model_of
from bugzoo.errors import NotApplicable
from bugzoo.rerun.model import call, quiet, tensors
from bugzoo.running.result import Run
from bugzoo.watching.records import STATISTICS

MOST = 400
"""Most entries."""
_BOUNDED = ("tanh", "sigmoid")
_FUNCTIONS = ("relu", "gelu", "silu", "leaky_relu", "softmax", "safe_softmax", *_BOUNDED)


@dataclass(frozen=True)
class Entry:
    """One call. NaN: not measured. `zeros`, `bounds` and `not_finite` are shares of the outputs."""

    name: str
    column: str = ""
    """Its name in `trace.modules`, "" for a function."""
    shape: tuple[int, ...] = ()
    std: float = math.nan
    zeros: float = math.nan
    bounds: float = math.nan
    not_finite: float = math.nan
    first: float = math.nan
    """Standard deviation at the first measured step."""


def called(run: Run) -> list[Entry]:
    """Of the last kept batch, in eval mode after training; empty if the model cannot be called."""
    try:
        batch = batches(run)[-1]
        model = model_of(run, batch)
    except NotApplicable:
        return []
    listener = _Listener(model)
    # a script may do anything when its model is called again: what ran until then is kept
    with contextlib.suppress(Exception), contextlib.ExitStack() as hooks, quiet(model), listener:
        for module in listener.names:
            hooks.enter_context(module.register_forward_pre_hook(listener.enter))
            hooks.enter_context(module.register_forward_hook(listener.leave))
        call(model, batch.args, batch.kwargs)
    return listener.entries


class _Listener(TorchDispatchMode):
    """Notes each module without submodules, and each activation function outside of those."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        kind = type(model).__name__
        self.names = {
            module: (_named(name, module), f"{kind}.{name} ({type(module).__name__})" if name else kind)
            for name, module in model.named_modules()
            if not any(module.children())
        }
        self.entries: list[Entry] = []
        self.inside = 0
        self.bounded: list[torch.Tensor] = []
        """Outputs of tanh and sigmoid inside of the module that runs, as two numbers: at the bounds, all."""

    def enter(self, module: torch.nn.Module, args: Any) -> None:
        self.inside += 1
        self.bounded = []

    def leave(self, module: torch.nn.Module, args: Any, output: Any) -> None:
        self.inside -= 1
        outputs = tensors(output)
        if outputs and len(self.entries) < MOST:
            name, column = self.names[module]
            bounds = torch.stack(self.bounded).sum(0) if self.bounded else None
            share = float(bounds[0] / bounds[1]) if bounds is not None else math.nan
            self.entries.append(_entry(shortened(name), outputs[0], column, share))

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        name = func.__name__.split(".")[0].strip("_")
        if name in _FUNCTIONS and isinstance(result, torch.Tensor) and result.is_floating_point():
            at_bounds = _at_bounds(name, result) if name in _BOUNDED else None
            if self.inside and at_bounds is not None:
                self.bounded.append(torch.stack([at_bounds, torch.tensor(float(result.numel()))]))
            elif not self.inside and len(self.entries) < MOST:
                share = float(at_bounds / max(1, result.numel())) if at_bounds is not None else math.nan
                self.entries.append(_entry(f"{name.removeprefix('safe_')}()", result, "", share))
        return result


def _at_bounds(name: str, values: torch.Tensor) -> torch.Tensor:
    edge = values.abs() > 0.97 if name == "tanh" else (values > 0.97) | (values < 0.03)
    return edge.sum().float().cpu()


def _entry(name: str, output: torch.Tensor, column: str, bounds: float) -> Entry:
    values = output.detach().float()
    if not values.numel():
        return Entry(name, column, tuple(output.shape))
    zeros, finite = (float(mask.float().mean()) for mask in (values == 0, torch.isfinite(values)))
    return Entry(name, column, tuple(output.shape), float(values.std(correction=0)), zeros, bounds, 1 - finite)


def before_crash(run: Run) -> list[Entry]:
    """The modules that ran in the forward pass that failed, and the failed one with the shape of its input."""
    scene = dict((run.trace.error or {}).get("scene") or {})
    entries = [Entry(shortened(name), shape=_shape(described)) for name, described in scene.get("way", [])]
    module = scene.get("module")
    if module:
        shape = _shape((module.get("given") or [""])[0])
        entries.append(Entry(f"{shortened(module['name'])}: error, input", shape=shape))
    return entries


def _shape(described: str) -> tuple[int, ...]:
    match = re.match(r"\(([\d, ]*)\)", described)
    return tuple(int(size) for size in match[1].split(",") if size.strip()) if match else ()


def recorded(run: Run) -> list[Entry]:
    """The modules of the trace that hold no others, with their statistics at the last measured step."""
    stats = np.asarray(run.trace.module_stats, dtype=np.float64)
    if stats.ndim != 3 or not len(stats):
        return []
    plain = [name.split(" (")[0] for name in run.trace.modules]
    leaves = [at for at, name in enumerate(plain) if not any(inner.startswith(name + ".") for inner in plain)]
    measured = [at for at in leaves if np.isfinite(stats[:, at, 1]).any()]
    places = {name: at for at, name in enumerate(STATISTICS)}
    return [
        Entry(
            shortened(plain[at].partition(".")[2] or plain[at]), run.trace.modules[at],
            std=float(stats[-1, at, places["std"]]), zeros=float(stats[-1, at, places["zeros"]]),
        )
        for at in measured
    ]  # fmt: skip


def with_first(run: Run, entries: list[Entry]) -> list[Entry]:
    """Add the spread at the first measured step, from the trace."""
    stats = np.asarray(run.trace.module_stats, dtype=np.float64)
    if stats.ndim != 3 or not len(stats):
        return entries
    first = {name: float(stats[0, at, 1]) for at, name in enumerate(run.trace.modules)}
    return [replace(entry, first=first.get(entry.column, math.nan)) for entry in entries]


def _named(name: str, module: torch.nn.Module) -> str:
    """Return the module's name; of the model itself, or of a part of a Sequential, also its kind."""
    kind = type(module).__name__
    return f"{name} {kind}" if name.isdigit() else name or kind


def shortened(name: str) -> str:
    """Return a module's name; of one with more than three parts the last three."""
    return ".".join(name.split(".")[-3:])
