"""The watched run's own objects, for instruments that need more than numbers. Never saved."""

import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import torch

from bugzoo.watching.evaluations import Evaluation
from bugzoo.watching.frozen_on_purpose import FrozenOnPurpose
from bugzoo.watching.history import History
from bugzoo.watching.models import Models
from bugzoo.watching.moment import Moment


@dataclass
class Batch:
    """What one root module was called with. `targets` come from the loss node's saved tensors, None if it has none."""

    step: int
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    targets: torch.Tensor | None
    loss: float
    module: torch.nn.Module | None = None


@dataclass(frozen=True)
class Past:
    """What is kept of a run that is over, so that a step of it can be run again; the recorder is gone."""

    models: Models
    moment: Moment
    history: History | None
    """None where no snapshots were taken."""


@dataclass(frozen=True)
class ModuleCall:
    """A root module and what it was called with."""

    module: torch.nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


@dataclass(frozen=True)
class Crashed:
    """What `bugzoo.rerun.crashed` needs to find out what happened on the way to a crash."""

    message: str
    failed: ModuleCall | None = None
    """The forward pass that raised."""
    before: ModuleCall | None = None
    """The forward pass before a backward() that raised because a tensor had been changed in place."""


@dataclass
class Live:
    """References into the run, and no code that runs anything. `models`: root modules seen, those that were trained first."""

    began: float = field(default_factory=time.time)
    """Seconds since the epoch: what a process keeps a list of, such as compilations, holds earlier runs as well."""
    ended: float = float("inf")
    """The same, of the end of the watch."""
    models: list[torch.nn.Module] = field(default_factory=list)
    optimizers: list[torch.optim.Optimizer] = field(default_factory=list)
    first_batches: list[Batch] = field(default_factory=list)
    latest_batches: deque[Batch] = field(default_factory=lambda: deque(maxlen=4))
    evaluations: list[Evaluation] = field(default_factory=list)
    """Where the script called a model without gradients, in the order in which it was last done."""
    namespace: dict[str, Any] = field(default_factory=dict)
    """Globals, and on top of them the locals, of the frame with the training loop."""
    frozen_on_purpose: FrozenOnPurpose = field(default_factory=FrozenOnPurpose)
    past: Past | None = None
    """None while the watch goes on."""
    crashed: Crashed | None = None
    explained: bool = False
    """Has `Trace.explain` been called, or is it too late to?"""
    no_rerun: str = ""
    """Why no part of the script may be run again; "" where it may. `bugzoo.rerun` asks this first."""
    guarded: bool = False
    """Is it known that nothing outside notices what is run again: writes land in scratch, or the script wrote nothing?"""

    @property
    def batches(self) -> list[Batch]:
        """At most 8: the first ones and the latest."""
        return [*self.first_batches, *self.latest_batches]

    def add(self, batch: Batch) -> None:
        if len(self.first_batches) < 4:
            self.first_batches.append(batch)
        else:
            self.latest_batches.append(batch)
