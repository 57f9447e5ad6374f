"""A run in a thread of this kernel: stop it, pause it at a step, inspect its objects, resume.

The thread runs the script and appends points to a list. `bugzoo.lab.view` draws them.
"""

import ctypes
import sys
import threading
import time
import weakref
from typing import Any

import torch

from bugzoo.errors import UserError
from bugzoo.lab.borders import Border
from bugzoo.lab.frontend import load
from bugzoo.running import Job, Run, run_here, run_worker
from bugzoo.running import stop_all as stop_workers
from bugzoo.watching import StopRun, Trace

_turn = threading.Lock()
"""Random generators, sys.argv and torch's hooks belong to the whole process: one run at a time."""

_running: "Engine | None" = None
"""The engine whose turn it is."""

_going: "weakref.WeakSet[Engine]" = weakref.WeakSet()

Point = tuple[int, float, float]
"""Optimizer step from 1, loss, gradient norm before the step."""


class Engine:
    """One run of a script. `pace`: most steps per second, 0 for no limit. `cap`: the run ends after this many steps.

    With a `job` it runs in its own processes (several ranks, a memory limit): it can be watched and stopped, not paused.

    state: ready · waiting (for another run) · running · paused · ended.
    """

    def __init__(
        self, source: str, file: str, *, pace: float = 0.0, cap: int | None = None, job: Job | None = None
    ) -> None:
        self.source, self.file, self.pace, self.cap, self.job = source, file, pace, cap, job
        self.points: list[Point] = []
        self.evaluations: dict[int, dict[int, float]] = {}
        """Place of the script -> steps done -> loss of the evaluation there, so far."""
        self.namespace: dict[str, Any] = {}
        self.run: Run | None = None
        self.failure: BaseException | None = None
        self.state = "ready"
        self.pause_step: int | None = None
        self.first_point_seconds: float | None = None
        self._stop = threading.Event()
        self._begun = threading.Event()
        """Set once all imports are done: from then on the run may be stopped inside a statement."""
        self._done = threading.Event()
        self._thread: threading.Thread | None = None
        self._border: Border | None = None
        self._threads = torch.get_num_threads()
        self._clock = 0.0

    @property
    def validation(self) -> list[list[tuple[int, float]]]:
        """(steps done, loss) of the script's evaluations so far, for each place. One behind the last step is in the run."""
        if self.run is not None:
            return [curve.points for curve in self.run.trace.validation]
        return [sorted(dict(some).items()) for some in list(self.evaluations.values())]

    # ---- control, from any thread

    def start(self) -> None:
        """Run in a daemon thread."""
        _going.add(self)
        if self.job is None:
            self._border = Border()
            self._border.paused = self.pause_step == 0
        self._thread = threading.Thread(target=self._work, name="bugzoo-run", daemon=True)
        self._thread.start()

    def run_now(self) -> None:
        """Run in this thread and return when it has ended."""
        self._work()

    def stop(self, patience: float = 1.0) -> None:
        """End the run after the current step; a script without steps is interrupted after `patience` seconds."""
        self._stop.set()
        if self._thread is not None:
            threading.Thread(target=self._insist, args=(patience,), daemon=True).start()

    def pause(self, at: int | None = None) -> None:
        """Pause after the current step, or after step `at`. Raises UserError for a run in other processes."""
        if self.job is not None:
            raise UserError("This run has its own processes, which cannot be paused. Press Stop to end it.")
        if at is not None or self._border is None:
            self.pause_step = at or 0  # a run that has not started pauses after its first step
        else:
            self._border.pause(True)

    def resume(self) -> None:
        self.pause_step = None
        if self._border is not None:
            self._border.pause(False)

    def advance(self, steps: int) -> None:
        """Run `steps` more steps and pause again."""
        self.pause_step = len(self.points) + steps
        if self._border is not None:
            self._border.pause(False)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the run has ended; return False after `seconds`, or if it is paused."""
        self.let_go()
        end = None if seconds is None else time.monotonic() + seconds
        while not self._done.wait(0.05):
            if self.state == "paused" or (end is not None and time.monotonic() > end):
                return False
        return True

    def wait_pause(self, seconds: float = 60.0) -> bool:
        """Wait until the run has paused; return False if it ended first, or after `seconds`."""
        self.let_go()
        end = time.monotonic() + seconds
        while self.state != "paused" and not self._done.is_set() and time.monotonic() < end:
            time.sleep(0.01)
        return self.state == "paused"

    def let_go(self) -> None:
        """Let this run continue beside the current cell, and also the run that this one waits for."""
        before = _running if self.state == "waiting" else None
        for engine in (before, self):
            if engine is not None and engine._border is not None:
                engine._border.let_go()

    @property
    def blocked(self) -> bool:
        """Return whether this run waits for a paused one, which may be forever."""
        other = _running
        if self.state != "waiting" or other is None or other._border is None or other._stop.is_set():
            return False
        return other._border.paused and other._border.parked

    @property
    def ended(self) -> bool:
        return self._done.is_set()

    # ---- in the training thread

    def _work(self) -> None:
        global _running
        self.state = "waiting"
        try:
            while not _turn.acquire(timeout=0.05):
                if self._stop.is_set():
                    return
            _running = self
            try:
                self._execute()
            finally:
                _running = None
                _turn.release()
        except BaseException as error:  # the view shows it; a thread must not lose an error
            self.failure = error
        finally:
            self.state = "ended"
            self._done.set()

    def _execute(self) -> None:
        torch.set_num_threads(self._threads)  # a new thread has its own setting, and sums depend on it
        if self._border is not None:
            self._border.begin()
        self.state = "running"
        self._clock = time.monotonic()
        begin = time.perf_counter()

        def on_step(info: dict[str, Any]) -> None:
            if self.first_point_seconds is None:
                self.first_point_seconds = time.perf_counter() - begin
            self._step(info)

        if self.job is None:
            load()
        try:
            self._begun.set()
            if self._stop.is_set():
                raise StopRun
            if self.job is not None:
                self.run = run_worker(self.job, on_step=on_step)
            else:
                self.run = run_here(self.source, self.file, on_step=on_step, own_thread=True)
            self.namespace = self.run.namespace
        except StopRun:  # raised before the script's first line, or after its last one
            self.run = self.run or Run(Trace(outcome="stopped"), self.source, self.file)
        finally:
            if self._border is not None:
                self._border.end()

    def _step(self, info: dict[str, Any]) -> None:
        if not self.namespace:
            self.namespace = _globals_of(self.file)
        step = int(info["step"])
        self.points.append((step, _number(info["loss"]), _number(info["grad_norm"])))
        for place, point in (info.get("validation") or {}).items():
            self.evaluations.setdefault(place, {})[point[0]] = point[1]
        if self.cap is not None and len(self.points) >= self.cap:
            self._stop.set()
        border = self._border
        if border is not None and not self._stop.is_set():
            if self.pause_step is not None and step >= self.pause_step:
                self.pause_step = None
                border.pause(True)
            self.state = "paused" if border.paused else "running"
            self._clock += border.cross(self._asked_to_stop)
            self.state = "running"
            self._keep_pace()
        if self._stop.is_set():
            raise StopRun

    def _asked_to_stop(self) -> bool:
        # a pause requested while a cell holds the run shows at once
        self.state = "paused" if self._border is not None and self._border.paused else "running"
        return self._stop.is_set()

    def _keep_pace(self) -> None:
        if self.pace > 0:
            early = self._clock + len(self.points) / self.pace - time.monotonic()
            if early > 0.005:  # shorter sleeps cost more than they claim
                self._stop.wait(early)

    def _insist(self, patience: float) -> None:
        """Raise StopRun inside a script that does not finish a step, and again while it continues."""
        while not self._done.wait(patience):
            thread = self._thread
            if thread is None or thread.ident is None:
                return
            if not self._begun.is_set():  # still importing; the script is stopped once it starts
                continue
            if self.job is not None:
                stop_workers()
                continue
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(StopRun))


def stop_all() -> int:
    """End every run of this kernel, also paused and waiting ones; return how many there were."""
    engines = [engine for engine in _going if not engine.ended]
    for engine in engines:
        engine.stop()
    for engine in engines:
        engine._done.wait(10)
    return len(engines)


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)


def _globals_of(file: str) -> dict[str, Any]:
    """Return the globals of the script that made this call."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == file:
            return frame.f_globals
        frame = frame.f_back
    return {}
