"""`StepContext`: the current state of a watched run that the parts of the watch share."""

import traceback
from dataclasses import dataclass, field

import torch

from bugzoo.watching.gradients import OptimizerState
from bugzoo.watching.loop import LoopFinder
from bugzoo.watching.parameters import Parameters
from bugzoo.watching.records import Event


@dataclass(slots=True)
class StepContext:
    """The state shared by the recorder and its parts. Only the recorder counts the steps."""

    events: list[Event]
    """The trace's own list."""
    optimizers: list[torch.optim.Optimizer]
    """Those that have stepped, in order of their first step. `states` has an entry for each, by its id."""
    step: int = 1
    """The number of the current step."""
    sampling: bool = True
    """Whether this step is sampled, with more measurements."""
    thread: int | None = None
    """The only thread whose training counts. None: any thread."""
    loop: LoopFinder = field(default_factory=LoopFinder)
    parameters: Parameters = field(default_factory=Parameters)
    states: dict[int, OptimizerState] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    def note(self, error: Exception) -> None:
        """Record an error of the watch itself. It is never raised in the watched code."""
        if len(self.errors) < 20:
            where = traceback.extract_tb(error.__traceback__)[-1]
            self.errors.append(f"{where.name}, line {where.lineno}: {type(error).__name__}: {error}")
