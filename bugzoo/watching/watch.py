"""`with watch() as trace:` around any training code. The code stays unchanged, and `trace` gets the numbers."""

import platform
import sys
import threading
import traceback
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

import numpy as np
import torch

from bugzoo.errors import UserError
from bugzoo.watching.hooks import Hooks
from bugzoo.watching.live import Past
from bugzoo.watching.loop import is_user_file
from bugzoo.watching.outcome import StopRun, of_error
from bugzoo.watching.recorder import Recorder
from bugzoo.watching.records import Environment, Event
from bugzoo.watching.scene import calls, scene
from bugzoo.watching.steps import Keeping
from bugzoo.watching.trace import Trace

_active: list["watch"] = []
_lock = threading.Lock()


class watch:
    """Watch the training inside the `with` block, without changing it and without re-running any of it.

    `on_step(info)` is called after each optimizer step with {"step", "loss", "grad_norm", "seconds"}. It may raise
    StopRun, which ends the block quietly with outcome "stopped". `snapshots` keeps the state for `trace.replay`. `graph`
    inspects the autograd graph at a few steps. `contracts` listens at library calls (`bugzoo.contracts`). `own_thread`
    ignores training in other threads. `draw` says after each step whether that step is kept whole (`watching.steps`).
    Raises UserError if another watch is active in this process.
    """

    def __init__(
        self,
        *,
        on_step: Callable[[dict[str, Any]], None] | None = None,
        snapshots: bool = True,
        graph: bool = True,
        own_thread: bool = False,
        contracts: bool = True,
        draw: Keeping | None = None,
    ) -> None:
        self.trace = Trace()
        self._recorder = Recorder(self.trace, on_step, graph, snapshots, draw)
        self._hooks, self._own_thread = Hooks(self._recorder, contracts), own_thread
        self._caller: FrameType | None = None

    def __enter__(self) -> Trace:
        with _lock:
            if _active:
                raise UserError(
                    "A watch is already active, and watches cannot be nested. Leave the first `with bugzoo.watch():` block "
                    "before you enter another, or watch only the outer block."
                )
            _active.append(self)
        self._caller = sys._getframe(1)
        self._recorder.loop.outside, self._recorder.loop.outside_line = self._caller, self._caller.f_lineno
        self.trace.environment = environment()
        self._recorder.moment.thread = threading.get_ident() if self._own_thread else None
        self._hooks.install()
        return self.trace

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> bool:
        try:
            self._hooks.remove()
            self._recorder.close()
            self.trace.metrics = self._metrics()
            self._conclude(error)
            live = self._recorder.live
            live.past = Past(self._recorder.models, self._recorder.moment, self._recorder.history)
            live.explained = isinstance(error, KeyboardInterrupt)  # stopped by the user: start nothing else
            if self._recorder.moment.errors:
                self.trace.environment["watch_errors"] = self._recorder.moment.errors
        finally:
            _active.remove(self)
            self._caller = self._recorder.loop.outside = None
        return isinstance(error, StopRun)

    def _conclude(self, error: BaseException | None) -> None:
        trace = self.trace
        trace.outcome = of_error(error, trace)
        if trace.outcome in ("crashed", "out_of_memory") and error is not None:
            frames = traceback.extract_tb(error.__traceback__)
            user = [f for f in frames if is_user_file(f.filename) and f.filename != __file__] or frames
            trace.error = {
                "type": type(error).__name__, "message": str(error), "file": user[-1].filename, "line": user[-1].lineno,
                "traceback": "".join(traceback.format_exception(error)),
            }  # fmt: skip
            if trace.outcome == "crashed":
                latest = self._recorder.forwards.last_call
                trace.error["scene"] = scene(error, latest)
                self._recorder.live.crashed = calls(error, latest)
            trace.events.append(Event(self._recorder.moment.step, "exception", {"type": type(error).__name__}))

    def _metrics(self) -> dict[str, float]:
        """Return the script's own final numbers: a dict of numbers named `metrics` next to the loop or the `with`."""
        places = [self._recorder.live.namespace]
        if self._caller is not None:
            places += [self._caller.f_locals, self._caller.f_globals]
        for place in places:
            metrics = place.get("metrics")
            if isinstance(metrics, dict) and metrics:
                try:
                    return {str(key): float(value) for key, value in metrics.items()}
                except (TypeError, ValueError, RuntimeError):
                    continue
        return {}


def environment() -> Environment:
    """Return versions, machine and threads."""
    return {
        "python": platform.python_version(), "torch": torch.__version__, "numpy": np.__version__,
        "system": f"{platform.system()} {platform.machine()}", "threads": torch.get_num_threads(),
        "cuda": torch.cuda.get_device_name() if torch.cuda.is_initialized() else None,
        "deterministic": torch.are_deterministic_algorithms_enabled(),
    }  # fmt: skip
