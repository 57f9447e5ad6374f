"""A clock for timed cases; it says how much is left and interrupts nobody."""

import threading
import time
import weakref
from typing import Any

from bugzoo.lab.frontend import headless


class Timer:
    """Counts down from `minutes`, or up from zero when they are left out."""

    def __init__(self, minutes: float | None = None) -> None:
        self.limit = None if minutes is None else 60 * minutes
        self._begin = time.monotonic()
        self._stopped: float | None = None
        self._end = threading.Event()

    @property
    def elapsed(self) -> float:
        """Seconds since the start, up to stop()."""
        return (self._stopped if self._stopped is not None else time.monotonic()) - self._begin

    @property
    def left(self) -> float:
        """Seconds left, never below 0; infinite without a limit."""
        return float("inf") if self.limit is None else max(0.0, self.limit - self.elapsed)

    def give(self, seconds: float) -> None:
        """Put back time that was not the learner's: a machine's, say."""
        self._begin += seconds

    def stop(self) -> float:
        """Stop the clock; returns the seconds it ran."""
        if self._stopped is None:
            self._stopped = time.monotonic()
        self._end.set()
        return self.elapsed

    def text(self) -> str:
        """`4:07 left`."""
        seconds = self.elapsed if self.limit is None else self.left
        clock = f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
        return f"{clock} {'since the start' if self.limit is None else 'left'}"

    def show(self) -> "Timer":
        """A line that is renewed once a second, or once now where nobody looks."""
        if headless():
            print(self.text())
            return self
        import ipywidgets as w
        from IPython.display import display

        self.label = w.Label(self.text())
        display(self.label)

        # by a weak reference: a clock that nobody holds any more, as its cell was run again, does not tick on
        arguments = (weakref.ref(self), self.label, self._end)
        threading.Thread(target=_tick, args=arguments, name="bugzoo-timer", daemon=True).start()
        return self

    def __repr__(self) -> str:
        return f"<Timer: {self.text()}>"


def _tick(clock: "weakref.ref[Timer]", label: Any, end: threading.Event) -> None:
    """Renew the label once a second until the clock is stopped, has run down or is gone."""
    while not end.wait(1.0):
        timer = clock()
        if timer is None:
            return
        label.value = timer.text()
        if timer.left == 0:
            return
        del timer
    timer = clock()
    if timer is not None:
        label.value = timer.text()
