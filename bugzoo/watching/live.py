"""The live objects of the watched run, for instruments that need more than numbers. They are never saved."""

import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import torch

from bugzoo.watching.evaluations import Evaluation
from bugzoo.watching.frozen_on_purpose import FrozenOnPurpose
from bugzoo.watching.history import History
from bugzoo.watching.loop import Scope
from bugzoo.watching.models import Models
from bugzoo.watching.step_context import StepContext
from bugzoo.watching.steps import Steps


@dataclass
class Batch:
    """The arguments of one root module call. `targets` are the loss node's saved tensors, None if it saved none."""

    step: int
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    targets: torch.Tensor | None
    loss: float
    module: torch.nn.Module | None = None


@dataclass(frozen=True)
class Past:
    """The part of a finished run that is kept so that a step can be re-run. The recorder is gone."""

    models: Models
    moment: StepContext
    history: History | None
    """None if no snapshots were taken."""


@dataclass(frozen=True)
class ModuleCall:
    """A root module and the arguments of its call."""

    module: torch.nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


@dataclass(frozen=True)
class Crashed:
    """The input of `bugzoo.rerun.crashed`, which finds out what led to a crash."""

    message: str
    failed: ModuleCall | None = None
    """The forward pass that raised."""
    before: ModuleCall | None = None
    """The forward pass before a backward() that raised because a tensor had been changed in place."""


@dataclass
class Live:
    """References into the run, without code that runs anything. `models`: the root modules seen, trained ones first."""

    began: float = field(default_factory=time.time)
    """Start of the watch, seconds since 1970: a process's own lists, such as compilations, also hold earlier runs."""
    ended: float = float("inf")
    """End of the watch, in the same unit."""
    models: list[torch.nn.Module] = field(default_factory=list)
    optimizers: list[torch.optim.Optimizer] = field(default_factory=list)
    first_batches: list[Batch] = field(default_factory=list)
    latest_batches: deque[Batch] = field(default_factory=lambda: deque(maxlen=4))
    evaluations: list[Evaluation] = field(default_factory=list)
    """Places where the script called a model without gradients, in order of the last call."""
    namespace: dict[str, Any] = field(default_factory=dict)
    """Globals of the frame with the training loop, overlaid by its locals."""
    frozen_on_purpose: FrozenOnPurpose = field(default_factory=FrozenOnPurpose)
    scopes: list[Scope] = field(default_factory=list)
    """The script's functions that were active during the training, the outermost first."""
    steps: Steps | None = None
    """The steps that were kept whole, if the watch was asked to."""
    past: Past | None = None
    """None while the watch is active."""
    crashed: Crashed | None = None
    explained: bool = False
    """Whether `Trace.explain` was called, or can no longer be called."""
    no_rerun: str = ""
    """Why no part of the script may be re-run, "" if it may. `bugzoo.rerun` checks this first."""
    guarded: bool = False
    """Whether a re-run is known to change nothing outside: writes go to an overlay, or the script wrote nothing."""

    @property
    def batches(self) -> list[Batch]:
        """Return at most 8 batches: the first ones and the latest."""
        return [*self.first_batches, *self.latest_batches]

    def add(self, batch: Batch) -> None:
        if len(self.first_batches) < 4:
            self.first_batches.append(batch)
        else:
            self.latest_batches.append(batch)
