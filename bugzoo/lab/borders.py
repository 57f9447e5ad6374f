"""One kernel, one set of random generators: a training thread and the learner's cells take turns.

torch, numpy and `random` each have one global generator per process. A cell that draws a random number during a run in
a thread would change the run, and the run would change the cell. So a run waits between two steps while a cell computes,
and each gets its own RNG state back. The run is then bitwise reproducible, whatever the cells do. The run continues
when a cell asks the view for its progress or waits for it.
"""

import random
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

_borders: "weakref.WeakSet[Border]" = weakref.WeakSet()
_in_cell = False
_installed = False


def random_state() -> tuple[Any, ...]:
    """Return the state of all global random generators."""
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None
    return random.getstate(), np.random.get_state(), torch.get_rng_state(), cuda


def set_random_state(state: tuple[Any, ...]) -> None:
    """Restore a state from `random_state()`."""
    random.setstate(state[0])
    np.random.set_state(state[1])
    torch.set_rng_state(state[2])
    if state[3] is not None:
        torch.cuda.set_rng_state_all(state[3])


class Border:
    """The point between two steps where a training thread can wait.

    `held`: a cell is computing. `paused`: the learner paused it. Only the training thread touches the generators.
    """

    def __init__(self) -> None:
        self._change = threading.Condition()
        self.held = self.paused = self.parked = self.over = False
        self.outside: tuple[Any, ...] | None = None
        """RNG state of the learner's cells, while the run uses its own."""
        install()
        self.held = _in_cell
        _borders.add(self)

    def begin(self) -> None:
        """Switch to the run's RNG state; called in the training thread before the run."""
        self.outside = random_state()

    def cross(self, stopped: Callable[[], bool]) -> float:
        """Wait while held or paused and return the seconds waited; called in the training thread after each step."""
        if not (self.held or self.paused):
            return 0.0
        import time

        begin = time.monotonic()
        inside = random_state()
        set_random_state(self.outside or inside)
        with self._change:
            self.parked = True
            self._change.notify_all()
            while (self.held or self.paused) and not stopped():
                self._change.wait(0.1)
            self.parked = False
        self.outside = random_state()
        set_random_state(inside)
        return time.monotonic() - begin

    def end(self) -> None:
        """Switch back to the cells' RNG state; called in the training thread after the run."""
        if self.outside is not None:
            set_random_state(self.outside)
        with self._change:
            self.over = True
            self._change.notify_all()
        _borders.discard(self)

    def pause(self, on: bool) -> None:
        with self._change:
            self.paused = on
            self._change.notify_all()

    def hold(self, seconds: float = 2.0) -> bool:
        """Wait until the run has paused for a new cell, at most `seconds` (a step may be long)."""
        with self._change:
            self.held = True
            return self._change.wait_for(lambda: self.parked or self.over, seconds)

    def let_go(self) -> None:
        """Let the run continue: the cell is over, or waits for the run itself."""
        with self._change:
            self.held = False
            self._change.notify_all()


def _before_cell(*_: Any) -> None:
    global _in_cell
    _in_cell = True
    for border in list(_borders):
        border.hold()


def _after_cell(*_: Any) -> None:
    global _in_cell
    _in_cell = False
    for border in list(_borders):
        border.let_go()


def install() -> None:
    """Register for IPython's cell start and end events. Called inside a cell, so one is running now."""
    global _installed, _in_cell
    if _installed:
        return
    try:
        from IPython import get_ipython
    except ImportError:
        return
    shell = get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return
    shell.events.register("pre_run_cell", _before_cell)
    shell.events.register("post_run_cell", _after_cell)
    _installed = _in_cell = True
