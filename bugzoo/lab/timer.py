"""A clock for timed cases; it shows the time left and interrupts nothing."""

import threading
import time
import weakref
from typing import Any

from bugzoo.lab.frontend import headless


class Timer:
    """A clock that counts down from `minutes`, or up from zero without them."""

    def __init__(self, minutes: float | None = None) -> None:
        self.limit = None if minutes is None else 60 * minutes
        self._begin = time.monotonic()
        self._stopped: float | None = None
        self._end = threading.Event()

    @property
    def elapsed(self) -> float:
        """Return the seconds since the start, up to stop()."""
        return (self._stopped if self._stopped is not None else time.monotonic()) - self._begin

    @property
    def left(self) -> float:
        """Return the seconds left, never below 0; infinite without a limit."""
        return float("inf") if self.limit is None else max(0.0, self.limit - self.elapsed)

    def give(self, seconds: float) -> None:
        """Give back time that the learner did not use, such as the machine's."""
        self._begin += seconds

    def stop(self) -> float:
        """Stop the clock; return the seconds it ran."""
        if self._stopped is None:
            self._stopped = time.monotonic()
        self._end.set()
        return self.elapsed

    def text(self) -> str:
        """Return the time as `4:07 left`."""
        seconds = self.elapsed if self.limit is None else self.left
        clock = f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
        return f"{clock} {'since the start' if self.limit is None else 'left'}"

    def show(self) -> "Timer":
        """Show a line that is updated every second, or print it once without a front end."""
        if headless():
            print(self.text())
            return self
        import ipywidgets as w
        from IPython.display import display

        self.label = w.Label(self.text())
        display(self.label)

        # a weak reference: a clock whose cell was run again is dropped and stops ticking
        arguments = (weakref.ref(self), self.label, self._end)
        threading.Thread(target=_tick, args=arguments, name="bugzoo-timer", daemon=True).start()
        return self

    def __repr__(self) -> str:
        return f"<Timer: {self.text()}>"


def _tick(clock: "weakref.ref[Timer]", label: Any, end: threading.Event) -> None:
    """Update the label every second until the clock is stopped, has run out or is gone."""
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
