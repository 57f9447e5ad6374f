"""The parameters of a run, one by one: what the views of gradients, updates and weights agree on."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from bugzoo.diagnostics._tools import median
from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.running.result import Run


@dataclass(frozen=True)
class Tensor:
    """One parameter tensor. A frozen one is not trainable, and is counted by no row about gradients or updates."""

    name: str
    shape: tuple[int, ...]
    trainable: bool
    group: int | None
    """Index of its parameter group; None if no optimizer has it."""
    dtype: str
    gradient: float
    """Median norm of its gradient over the steps; NaN if it never had one."""
    moved: float
    """Change over the whole run, relative to its size at the start."""
    start: float
    end: float
    """Its norm at the first and at the last measured step; NaN if not measured."""
    reached: bool | None = None
    """Whether it had a gradient at any step, also one that no optimizer used. None without a step."""
    late: bool | None = None
    """Whether its norm changed between the last two measured steps. None if it was not measured twice."""


def of(run: Run) -> list[Tensor]:
    """Return the tensors in the order of the model. Raises NotApplicable if none was seen."""
    trace = run.trace
    if not trace.parameters:
        raise NotApplicable("no parameters were seen")
    norms, sizes = _table(trace.param_grad_norm, trace), _table(trace.param_norm, trace)
    reached = _reached(norms, _table(trace.grad_zeros, trace))
    names = _unique([leaf.name for leaf in trace.parameters])
    return [
        Tensor(
            names[place], tuple(leaf.shape), leaf.trainable, leaf.group, leaf.dtype, median(norms[:, place]), float(leaf.changed),
            *_ends(sizes[:, place]), reached[place], _late(sizes[:, place]),
        )
        for place, leaf in enumerate(trace.parameters)
    ]  # fmt: skip


def live(run: Run, tensors: list[Tensor]) -> dict[str, torch.Tensor]:
    """Return name -> parameter of the live models and optimizers, one without elements for a tensor that is gone.

    Names do not tell tensors apart: a script may replace a layer. Raises NotApplicable without live models.
    """
    alive = getattr(run.trace, "live", None)
    if alive is None or not alive.models or alive.past is None:
        raise NotApplicable("no model is alive")
    order, parameters = alive.past.moment.parameters, {}
    stepped = [p for optimizer in alive.optimizers for group in optimizer.param_groups for p in group["params"]]
    for parameter in [*stepped, *(p for model in alive.models for p in model.parameters())]:
        if parameter in order:
            parameters[order.columns([parameter])[0]] = parameter
    missing = torch.zeros(0)
    return {tensor.name: parameters.get(place, missing) for place, tensor in enumerate(tensors)}


def _unique(names: list[str]) -> list[str]:
    """Return the names, numbered where several tensors have the same one."""
    return [name + (f" #{n + 1}" if (n := names[:place].count(name)) else "") for place, name in enumerate(names)]


def _ends(sizes: np.ndarray) -> tuple[float, float]:
    """Return the first and the last norm: a tensor that was made later has none at the first steps."""
    norms = sizes[~np.isnan(sizes)]
    return (float(norms[0]), float(norms[-1])) if len(norms) else (math.nan, math.nan)


def _late(sizes: np.ndarray) -> bool | None:
    norms = sizes[~np.isnan(sizes)]
    return None if len(norms) < 2 else bool(norms[-1] != norms[-2])


def _reached(norms: np.ndarray, zeros: np.ndarray) -> list[bool | None]:
    """Return for each tensor whether it had a gradient: norms know the optimizer's tensors, zeros know all of them."""
    if not len(norms):
        return [None] * norms.shape[1]
    pairs = zip(norms.T, zeros.T, strict=True)
    return [bool(not np.isnan(norm).all() or not np.isnan(zero).all()) for norm, zero in pairs]


def _table(values: Any, trace: Any) -> np.ndarray:
    """Return a (rows, tensors) table; one without rows if its shape is another."""
    table, tensors = np.asarray(values, dtype=np.float64), len(trace.parameters)
    return table if table.ndim == 2 and table.shape[1] == tensors else np.zeros((0, tensors))
