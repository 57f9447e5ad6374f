"""Keep what a replay needs while the training runs: the last snapshots and each iteration's loop variables."""

import math
import sys
import time
from collections import deque
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from bugzoo.watching.between import Between, own
from bugzoo.watching.loop import Loop, user_frames
from bugzoo.watching.models import Models
from bugzoo.watching.state import State, torch_rng
from bugzoo.watching.step_context import StepContext

BATCH_MIB = 48
"""Most memory (MiB) for the batches of past iterations."""
SNAPSHOT_MIB = 1024
"""No snapshots are taken of a model whose snapshot would be larger than this (MiB)."""
SHARE = 0.005
"""Share of the run's time that snapshots may take."""


@dataclass(slots=True)
class Iteration:
    """One pass through the loop's body, recorded at its first forward."""

    number: int
    step: int
    """The number of the current optimizer step."""
    line: int
    """The line of the loop's frame that called the forward."""
    values: dict[str, Any]
    rng: dict[str, Any]
    versions: list[int] = field(default_factory=list)
    start: dict[str, Any] | None = None
    """RNG state at the end of the step before, if a function called by the loop does the whole step."""
    between: Between | None = None
    """At an epoch's first iteration: values that the code around the loop may have changed."""

    def overwritten(self) -> bool:
        """Return whether a tensor of this batch was changed in place since."""
        return self.versions != [t._version for t in tensors(self.values)]


@dataclass
class Snapshot:
    """The full state at the first forward of an iteration. A replay continues from the statement with that forward."""

    iteration: Iteration
    state: State
    namespace: dict[str, Any]
    loop: Loop
    frame_globals: dict[str, Any]
    top_level: bool
    args: tuple[Any, ...] | None = None
    """The forward's arguments: they may hold random numbers that the same statement has drawn."""


def leaves(value: Any) -> list[torch.Tensor]:
    """Return the tensors in a loop variable."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, list | tuple | dict):
        return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]
    return []


def tensors(values: dict[str, Any]) -> list[torch.Tensor]:
    return [t for value in values.values() for t in leaves(value)]


class History:
    """Called at each step's first forward. Decides when to take a snapshot, at a cost of about 1 % of the time at most."""

    def __init__(self, moment: StepContext, models: Models) -> None:
        self.moment, self.models = moment, models
        self.finder = moment.loop
        self.iterations: deque[Iteration] = deque()
        self.snapshots: deque[Snapshot] = deque()
        self.first: Snapshot | None = None
        """The state at the start of training. It is kept when older snapshots are dropped."""
        self.pinned: Snapshot | None = None
        self.stopped = False
        self.every = 25
        self.last: int | None = None  # the step at which it stopped
        self._soon = self._due = 0.0  # a snapshot is taken from these steps on: at an epoch's start, and anywhere
        self._number = 0
        self._held = 0
        self._frame: FrameType | None = None
        self._optimizers = 0
        self.nested = False  # whether the forward is called from a function of the script that the loop calls
        self._start: dict[str, Any] | None = None
        self._cost = self._pace = math.inf  # seconds of a snapshot, and of a step of the run
        self._taken_at = (0, 0.0)

    # -- during the run -----------------------------------------------------------------------------------------------

    def at_forward(self, args: tuple[Any, ...] = (), rng: dict[str, Any] | None = None) -> None:
        """Handle the first root module call with gradients since the last backward or step. `rng`: torch's state then."""
        if self.stopped:
            return
        finder, loop = self.finder, self.finder.loop
        if loop is None:
            if self.moment.step > 1 or self._number > 64:
                return
            guess = finder.guess()
            if guess is None:
                return
            frame, loop = guess
        else:
            frame = finder.current()
            if frame is None:
                return
        names, line, step = frame.f_locals, frame.f_lineno, self.moment.step
        values = {name: names[name] for name in loop.names if name in names}
        last = self.iterations[-1] if self.iterations else None
        if last is not None and not self._begins(loop, last, line, values, frame):
            return
        versions = []
        for value in values.values():
            for t in (value,) if type(value) is Tensor else leaves(value):  # the usual case, quickly
                versions.append(t._version)
                self._held += t.numel() * t.element_size()
        self._number += 1
        if step <= 2:
            self.nested = next(user_frames(sys._getframe(1)), frame) is not frame
        now = Iteration(self._number, step, line, values, rng or torch_rng(), versions, self._start)
        self.iterations.append(now)
        # an epoch's start is the best place for a snapshot, unless the step draws its own batch: then it is not known
        # which random numbers the start has already drawn
        new_epoch = self._new_epoch(loop, last, values, frame)
        if new_epoch and last is not None:
            now.between = Between.of(names, self.moment.optimizers, args)
        met = len(self.moment.optimizers)  # another optimizer means another training
        if (
            step >= self._due
            or (step >= self._soon and new_epoch is not self.nested)
            or met > max(1, self._optimizers)
            or (self.nested and step == 2)
        ):
            self._take(now, frame, loop, args)
        self._optimizers = met
        self._frame = frame
        while self._held > BATCH_MIB * 2**20 and len(self.iterations) > 2:
            self._drop_oldest()

    def after_step(self) -> None:
        """Record the RNG state, from which the function of the next step draws before its forward."""
        self._start = torch_rng() if self.nested and not self.stopped else None

    def _begins(self, loop: Loop, last: Iteration, line: int, values: dict[str, Any], frame: FrameType) -> bool:
        """Return whether this is a new iteration, not another forward within the last one."""
        if frame is not self._frame or line < last.line:
            return True
        if values:
            before = last.values.get
            for name, value in values.items():
                if before(name) is not value:
                    return True
            return False
        return line == last.line and not loop.in_nested(line)

    def _new_epoch(self, loop: Loop, last: Iteration | None, values: dict[str, Any], frame: FrameType) -> bool:
        """Return whether an outer loop has advanced. A replay from here needs nothing from between the epochs."""
        if frame is not self._frame or last is None:
            return True
        for name in loop.outer:
            now = values.get(name)
            if isinstance(now, int) and now != last.values.get(name):
                return True
        return False

    def _drop_oldest(self) -> None:
        gone = self.iterations.popleft()
        self._held -= sum(t.numel() * t.element_size() for t in tensors(gone.values))
        while self.snapshots and self.snapshots[0].iteration.number <= gone.number and len(self.snapshots) > 1:
            self.snapshots.popleft()

    def _take(self, now: Iteration, frame: FrameType, loop: Loop, args: tuple[Any, ...]) -> None:
        parameters, began = self.moment.parameters, time.perf_counter()
        if parameters.bytes() * 4 > SNAPSHOT_MIB * 2**20:
            self._soon = self._due = math.inf
            return
        self.snapshots.append(self.snapshot(now, frame, loop, args))
        self.first = self.first or self.snapshots[0]
        small = parameters.bytes() < 16 * 2**20
        while len(self.snapshots) > (3 if small else 2):
            self.snapshots.popleft()
            while self.iterations[0].number < self.snapshots[0].iteration.number:
                self._drop_oldest()
        ended = time.perf_counter()
        steps, seconds = now.step - self._taken_at[0], began - self._taken_at[1]
        if self._taken_at[1] and steps:
            # The fastest steps and the cheapest snapshot so far, because a busy machine slows down either at times.
            self._pace = min(self._pace, seconds / steps)
            self._cost = min(self._cost, ended - began)
            self.every = int(min(max(self._cost / (SHARE * self._pace), 10), 200))
        self._taken_at = (now.step, ended)
        self._soon, self._due = now.step + self.every, now.step + self.every * 3 // 2

    def snapshot(self, now: Iteration, frame: FrameType, loop: Loop, args: tuple[Any, ...] | None) -> Snapshot:
        names = {name: own(value) for name, value in frame.f_locals.items()}
        state = State(self.models.ordered(), self.moment.optimizers, names, rng=True)
        state.rng = (state.rng or {}) | now.rng
        return Snapshot(now, state, names, loop, frame.f_globals, frame.f_locals is frame.f_globals, args)

    def pin(self) -> None:
        """Keep the state of this step, at which something went wrong, and take no more snapshots."""
        if self.stopped:
            return
        self.stopped, self.last = True, self.moment.step
        frame, loop = self.finder.current(), self.finder.loop
        if loop is None and self.snapshots:
            return  # the first step: only the snapshot at its forward exists
        if frame is None or loop is None or not self.iterations:
            return
        if any(not state.fresh for state in self.moment.states.values()):
            return  # there were older gradients, which only the earlier snapshots hold
        pinned = self.snapshot(self.iterations[-1], frame, loop, None)
        pinned.state.grads = [None] * len(pinned.state.grads)
        pinned.state.rng = (pinned.state.rng or {}) | pinned.iteration.rng
        self.pinned = pinned

    def stop(self, step: int) -> None:
        """Take no more snapshots, because `step` went wrong some steps ago: keep those before it."""
        if not self.stopped:
            self.stopped, self.last = True, self.moment.step - 1

    def end_at(self, step: int) -> None:
        """Take no more snapshots after `step`, of which a part is done: keep those before it."""
        if not self.stopped:
            self.stopped, self.last = True, step

    def held_mib(self) -> float:
        return self._held / 2**20

    # -- for a replay -------------------------------------------------------------------------------------------------

    def reach(self) -> tuple[int, int] | None:
        """Return the first and last step that can be replayed, None if no step can."""
        if not self.snapshots or not self.iterations:
            return None
        first = self.snapshots[0].iteration.step
        last = self.last if self.last is not None else self.moment.step - 1
        return (first, last) if first <= last else None

    def plan(self, step: int) -> tuple[Snapshot, list[Iteration]] | None:
        """Return the snapshot to start from and the iterations to run. The last one performs `step`."""
        if self.last is not None and step > self.last:
            return None
        goal = [it for it in self.iterations if it.step <= step]
        fit = [s for s in self.snapshots if s.iteration.step <= step and goal and s.iteration.number <= goal[-1].number]
        if not fit:
            return None
        start = fit[-1]
        run = [it for it in goal if it.number >= start.iteration.number]
        return (start, run) if run and run[0].number == start.iteration.number else None
