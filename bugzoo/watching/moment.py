"""`Moment`: where a watched run is just now, as far as the parts of the watch have to know it of each other."""

import traceback
from dataclasses import dataclass, field

import torch

from bugzoo.watching.gradients import OptimizerState
from bugzoo.watching.loop import LoopFinder
from bugzoo.watching.parameters import Parameters
from bugzoo.watching.records import Event


@dataclass(slots=True)
class Moment:
    """Shared by the recorder and its parts. The recorder alone counts the steps."""

    events: list[Event]
    """The trace's own list."""
    optimizers: list[torch.optim.Optimizer]
    """Those that have stepped, in the order in which they were met; `states` has one for each, by its id."""
    step: int = 1
    """The number of the step that is being made now."""
    sampling: bool = True
    """Is it one of those that are looked at more closely?"""
    thread: int | None = None
    """The only thread whose training counts; None: any."""
    loop: LoopFinder = field(default_factory=LoopFinder)
    parameters: Parameters = field(default_factory=Parameters)
    states: dict[int, OptimizerState] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    def note(self, error: Exception) -> None:
        """A mistake of the watch itself: kept, and never passed on to the watched code."""
        if len(self.errors) < 20:
            where = traceback.extract_tb(error.__traceback__)[-1]
            self.errors.append(f"{where.name}, line {where.lineno}: {type(error).__name__}: {error}")
