"""One kernel, one set of random generators: a training thread and the learner's cells take turns.

torch, numpy and `random` have one global generator each for the whole process. A cell that draws a number while a run
is going on in a thread would change the run, and the run would change the cell. So a run stands still at a step border
while a cell computes, and each of them gets its own generator state back: a run is the same to the last bit whatever
happens beside it. Asking the view how far the run is, or waiting for it, lets it go on.
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
    """All global generators."""
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None
    return random.getstate(), np.random.get_state(), torch.get_rng_state(), cuda


def set_random_state(state: tuple[Any, ...]) -> None:
    """Put `random_state()` back."""
    random.setstate(state[0])
    np.random.set_state(state[1])
    torch.set_rng_state(state[2])
    if state[3] is not None:
        torch.cuda.set_rng_state_all(state[3])


class Border:
    """Where a training thread can be made to stand still: between two steps.

    `held`: a cell is computing. `paused`: the learner said so. Only the training thread touches the generators.
    """

    def __init__(self) -> None:
        self._change = threading.Condition()
        self.held = self.paused = self.parked = self.over = False
        self.outside: tuple[Any, ...] | None = None
        """The generators as the learner's cells left them, while the run has its own."""
        install()
        self.held = _in_cell
        _borders.add(self)

    def begin(self) -> None:
        """Called in the training thread before the run: from here on the generators are the run's."""
        self.outside = random_state()

    def cross(self, stopped: Callable[[], bool]) -> float:
        """Called in the training thread after each step; returns the seconds it stood still."""
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
        """Called in the training thread after the run: the generators are the cells' again."""
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
        """A cell begins: wait until the run stands still, at most `seconds` (a step may be long)."""
        with self._change:
            self.held = True
            return self._change.wait_for(lambda: self.parked or self.over, seconds)

    def let_go(self) -> None:
        """The cell is over, or it waits for the run itself."""
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
    """Be told by IPython when a cell begins and ends; called inside a cell, so one is going on now."""
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
