"""Shared by several instruments: finite columns, the batches that were kept, numbers for a verdict."""

import math
from typing import Any

import numpy as np
import torch

from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.rerun.model import live
from bugzoo.running.result import Run

DROPOUTS = (torch.nn.modules.dropout._DropoutNd,)
NORMS = (torch.nn.modules.batchnorm._BatchNorm,)


def column(values: Any) -> np.ndarray:
    """(S,) as float64."""
    return np.asarray(values, dtype=np.float64).reshape(-1)


def interleaved(trace: Any) -> int:
    """Number of optimizers that take turns (two players); 1 where they follow one another (folds, phases)."""
    optimizer = column(trace.optimizer)
    optimizer = optimizer[np.isfinite(optimizer)]
    kinds, turns = len(np.unique(optimizer)), int((np.diff(optimizer) != 0).sum()) + 1
    return kinds if turns > kinds else min(1, kinds)


def median(values: Any, default: float = math.nan) -> float:
    """Median of the finite entries; `default` without any."""
    entries = column(values)
    entries = entries[np.isfinite(entries)]
    return float(np.median(entries)) if len(entries) else default


def need_steps(run: Run, least: int = 1) -> int:
    """Number of optimizer steps. Raises NotApplicable when there are fewer than `least`."""
    steps = len(column(run.trace.step))
    if steps < least:
        raise NotApplicable(f"{steps} optimizer steps were seen, and at least {least} are needed")
    return steps


def batches(run: Run) -> list[Any]:
    """Batches of the model that got the first kept one. Raises NotApplicable where no batch was kept."""
    recorded = list(live(run).batches)
    if not recorded:
        raise NotApplicable("the watch kept no batch of a model")
    main = model_of(run, recorded[0])
    return [batch for batch in recorded if model_of(run, batch) is main]


def model_of(run: Run, batch: Any) -> torch.nn.Module:
    """The root module that was called with `batch`. Raises NotApplicable where no model was seen."""
    module = getattr(batch, "module", None)
    if module is None:
        models = live(run).models
        if not models:
            raise NotApplicable("no model was seen")
        module = models[0]
    return module


def share(value: float) -> str:
    """A share as text: 0.317 -> 32 %."""
    return f"{value:.0%}" if value >= 0.005 or value == 0 else f"{value:.2%}"
