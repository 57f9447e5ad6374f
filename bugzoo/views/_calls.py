"""One training forward pass of a run, and the model called with it again: what the views of memory and repeats share."""

from dataclasses import dataclass
from typing import Any

import torch

from bugzoo.diagnostics._tools import batches, model_of
from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.rerun.model import live
from bugzoo.running.result import Run


@dataclass(frozen=True)
class Call:
    """A root module and the arguments of one of its calls in training."""

    module: torch.nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def latest(run: Run) -> Call:
    """Return the latest kept call; of a run that ended in its first forward pass, that one.

    Raises NotApplicable if no call was kept, or while ranks are connected: one of them alone could wait forever.
    """
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        raise NotApplicable("one rank alone cannot call a model of several ranks")
    watched = live(run)
    if watched.batches:
        batch = batches(run)[-1]
        return Call(_own(model_of(run, batch)), batch.args, batch.kwargs)
    history = watched.past.history if watched.past is not None else None
    first = history.first if history is not None else None
    if not watched.models or first is None or not first.args:
        raise NotApplicable("the watch kept no batch of a model")
    return Call(_own(watched.models[0]), first.args, {})


def _own(module: torch.nn.Module) -> torch.nn.Module:
    """Return the script's model inside DistributedDataParallel."""
    return module.module if isinstance(module, torch.nn.parallel.DistributedDataParallel) else module
