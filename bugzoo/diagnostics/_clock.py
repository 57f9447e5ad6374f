"""Time limits of a checkup, kept inside the script's own process: when the script must end, and when the verdicts must be ready.

A supervisor ends a worker from outside three seconds after it has asked it to end. That is too short for the instruments. So the
script is interrupted from inside, and the instruments get the rest of the budget, cheapest first. An instrument that runs out of
time says so, and the others keep their numbers.

    Job(..., after=f"{__name__}:60:120")    # 60 s for the script, 120 s in total

The worker looks up its `after` right before the script begins. That starts the clock.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from types import FrameType
from typing import Any

from bugzoo.diagnostics import instrument, names, read, ready, reruns
from bugzoo.errors import NotApplicable
from bugzoo.running.processes import shares
from bugzoo.running.reading import Reading
from bugzoo.running.result import Run
from bugzoo.watching.records import ErrorRecord

__all__ = ["ready"]
GRACE = 1.5
"""Seconds that the instruments get after the script was stopped from outside. The supervisor waits twice as long at most."""
SLACK = 0.05
"""Seconds that are too few to matter."""
MOST_WAITED = 10
"""A time limit lasts at most this many times as long while other programs hold the processors."""


class _Over(BaseException):
    """The time is over. No `except Exception` of a script or an instrument can catch it."""


class Clock:
    """Seconds since its creation. Time in which the process waits for a processor does not count."""

    def __init__(self) -> None:
        self.begun, self.waited = time.monotonic(), shares([os.getpid()])[1]
        self.ended: ErrorRecord | None = None
        """Where the script was when its time was over."""

    def spent(self) -> float:
        elapsed = time.monotonic() - self.begun
        return max(elapsed - (shares([os.getpid()])[1] - self.waited), elapsed / MOST_WAITED)

    def limit(self, seconds: float) -> None:
        """End the script after `seconds`, as Ctrl-C would."""

        def ring(number: int, frame: FrameType | None) -> None:
            left = seconds - self.spent()
            if left > SLACK:
                signal.setitimer(signal.ITIMER_REAL, left)
                return
            file, line = _place(frame)
            message = f"ended after {seconds:g} s"
            self.ended = {"type": "timed_out", "message": message, "traceback": "", "file": file, "line": line}
            raise KeyboardInterrupt

        signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, seconds)

    def alarm(self, until: float) -> None:
        """Raise _Over at `until`, and again every 5 s in case other code caught it."""

        def ring(number: int, frame: FrameType | None) -> None:
            if (left := until - self.spent()) > SLACK:
                signal.setitimer(signal.ITIMER_REAL, left, 5.0)
                return
            raise _Over

        signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, max(until - self.spent(), 0.01), 5.0)

    def close(self, run: Run, seconds: float) -> tuple[float, str]:
        """Record in `run` how the script ended; return until when the clock lets instruments work, and why no longer."""
        signal.setitimer(signal.ITIMER_REAL, 0)
        if self.ended is not None:
            run.trace.outcome, run.trace.error = "timed_out", self.ended
        elif run.outcome == "stopped":
            return self.spent() + GRACE, "no time left: the run was stopped"
        return seconds, f"no time left: the budget is {seconds:.0f} s"

    def within(self, call: Callable[[], Any], until: float, what: str) -> Any:
        """Return call(). Raises NotApplicable if the time is over before it returns."""
        begun = self.spent()
        try:
            self.alarm(until)
            return call()
        except _Over:
            raise NotApplicable(f"the time limit ended {what} after {self.spent() - begun:.0f} s") from None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)


def _place(frame: FrameType | None) -> tuple[str | None, int | None]:
    """File and line of the script's innermost frame."""
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    while frame is not None and frame.f_code.co_filename != file:
        frame = frame.f_back
    return (file, frame.f_lineno) if frame is not None else (None, None)


def limits(name: str) -> tuple[Clock, float]:
    """Start a clock with the limits in a name such as "60:120", for the script and in total; return it and the total.

    Raises AttributeError for another name.
    """
    try:
        script, total = map(float, name.split(":"))
    except ValueError:
        raise AttributeError(f"{name!r} is no pair of time limits") from None
    clock = Clock()
    clock.limit(script)
    return clock, total


def __getattr__(name: str) -> Any:
    """`look` with these limits. The clock starts now."""
    clock, total = limits(name)
    return partial(look, clock=clock, seconds=total)


def in_order() -> list[str]:
    """Instruments that need no further run of the script, cheapest first, and those that train last."""
    chosen = [name for name in names() if not reruns(name)]
    return sorted(chosen, key=lambda name: (instrument(name).COST, getattr(instrument(name), "TRAINS", False), name))


def look(run: Run, clock: Clock, seconds: float, chosen: Iterable[str] | None = None) -> dict[str, Reading]:
    """Readings until the clock shows `seconds`. Instruments that read only the trace are always measured."""
    until, why = clock.close(run, seconds)
    readings: dict[str, Reading] = {}
    try:
        for name in in_order() if chosen is None else chosen:
            if run.outcome in ("timed_out", "stopped") and getattr(instrument(name), "WHOLE", False):
                readings[name] = Reading(
                    why_not="this instrument judges a finished training run, and this one was cut short"
                )
                continue
            if instrument(name).COST and clock.spent() > until - 2 * SLACK:
                readings[name] = Reading(why_not=why)
                continue
            readings[name] = _within(name, run, clock, until)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return readings


def _within(name: str, run: Run, clock: Clock, until: float) -> Reading:
    """One reading, cut off when the time is over. Only instruments that call the model can take long."""
    if not instrument(name).COST:
        return read(name, run)
    try:
        return clock.within(partial(read, name, run), until, "this instrument")
    except NotApplicable as over:
        return Reading(why_not=str(over))
