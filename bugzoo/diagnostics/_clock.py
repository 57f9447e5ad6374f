"""The times of a checkup, kept within the script's own process: when the script has to end, and when its verdict has to stand.

A worker is ended from outside when its time is over, three seconds after it was asked to: too short for the instruments.
Here the script is interrupted from within, and they have what is left of the budget, the cheap ones first; who does not
come to an end in it says so and costs nobody else his numbers.

    Job(..., after=f"{__name__}:60:120")    # the script has 60 s, all of it 120

The worker looks its `after` up right before the script begins, and that is when the clock is started.
"""

import os
import signal
import sys
import time
from collections.abc import Iterable
from functools import partial
from types import FrameType
from typing import Any

from bugzoo.diagnostics import instrument, names, read, ready, reruns
from bugzoo.running.processes import shares
from bugzoo.running.reading import Reading
from bugzoo.running.result import Run
from bugzoo.watching.records import ErrorRecord

__all__ = ["ready"]
GRACE = 1.5
"""Seconds for the instruments where the script was stopped from outside, which waits no longer than twice as long."""
SLACK = 0.05
"""Seconds that make no difference."""
MOST_WAITED = 10
"""Times longer than it says that a time lasts, at most, while other programs have the processors."""


class _Over(BaseException):
    """The time is over; no `except Exception` of a script or an instrument may hold it."""


class Clock:
    """Seconds since it was made; what the process waits while others have the processors does not count."""

    def __init__(self) -> None:
        self.begun, self.waited = time.monotonic(), shares([os.getpid()])[1]
        self.ended: ErrorRecord | None = None
        """Where the script stood when its time was over."""

    def spent(self) -> float:
        elapsed = time.monotonic() - self.begun
        return max(elapsed - (shares([os.getpid()])[1] - self.waited), elapsed / MOST_WAITED)

    def limit(self, seconds: float) -> None:
        """End the script when so many have been spent, as Ctrl-C would."""

        def ring(number: int, frame: FrameType | None) -> None:
            left = seconds - self.spent()
            if left > SLACK:
                signal.setitimer(signal.ITIMER_REAL, left)
                return
            file, line = _place(frame)
            said = f"ended after {seconds:g} s"
            self.ended = {"type": "timed_out", "message": said, "traceback": "", "file": file, "line": line}
            raise KeyboardInterrupt

        signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, seconds)

    def alarm(self, until: float) -> None:
        """Raise _Over when `until` has come, and once more where somebody has held it."""

        def ring(number: int, frame: FrameType | None) -> None:
            if (left := until - self.spent()) > SLACK:
                signal.setitimer(signal.ITIMER_REAL, left, 5.0)
                return
            raise _Over

        signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, max(until - self.spent(), 0.01), 5.0)


def _place(frame: FrameType | None) -> tuple[str | None, int | None]:
    """File and line of the innermost frame that is the script's."""
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    while frame is not None and frame.f_code.co_filename != file:
        frame = frame.f_back
    return (file, frame.f_lineno) if frame is not None else (None, None)


def __getattr__(name: str) -> Any:
    """`look` for the times "60:120", of the script and of all; the clock begins now."""
    try:
        script, all_of_it = map(float, name.split(":"))
    except ValueError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    clock = Clock()
    clock.limit(script)
    return partial(look, clock=clock, seconds=all_of_it)


def in_order() -> list[str]:
    """Instruments that need no further run, the cheap ones first and those that train last."""
    chosen = [name for name in names() if not reruns(name)]
    return sorted(chosen, key=lambda name: (instrument(name).COST, getattr(instrument(name), "TRAINS", False), name))


def look(run: Run, clock: Clock, seconds: float, chosen: Iterable[str] | None = None) -> dict[str, Reading]:
    """Readings until `seconds` of the clock are spent; what reads the trace alone is always measured."""
    signal.setitimer(signal.ITIMER_REAL, 0)
    until, why = seconds, f"there was no time left for it: the budget is {seconds:.0f} s"
    if clock.ended is not None:
        run.trace.outcome, run.trace.error = "timed_out", clock.ended
    elif run.outcome == "stopped":
        until, why = clock.spent() + GRACE, "the run was stopped, and there was no time left for it"
    found: dict[str, Reading] = {}
    try:
        for name in in_order() if chosen is None else chosen:
            if run.outcome in ("timed_out", "stopped") and getattr(instrument(name), "WHOLE", False):
                found[name] = Reading(why_not="it judges what a training came to, and this one was cut short")
                continue
            if instrument(name).COST and clock.spent() > until - 2 * SLACK:
                found[name] = Reading(why_not=why)
                continue
            found[name] = _within(name, run, clock, until)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return found


def _within(name: str, run: Run, clock: Clock, until: float) -> Reading:
    """One reading, cut off when the time is over; only what calls the model can take long."""
    if not instrument(name).COST:
        return read(name, run)
    begun = clock.spent()
    try:
        clock.alarm(until)
        return read(name, run)
    except _Over:
        return Reading(why_not=f"it was not done after {clock.spent() - begun:.0f} s, when the time was over")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
