"""Measure the time that a busy machine takes from a run, so that no instrument suspects the training for it."""

import contextlib
import os

from bugzoo.machine import portable


class Waits:
    """The seconds that one thread was ready to run but waited for a processor, as Linux counts them.

    The wall time minus these seconds is the time on an idle machine. On other systems, and in a container that hides
    them, they are 0. The thread is the one that calls `seconds` first.
    """

    def __init__(self) -> None:
        self._file: int | None = None
        self._asked = False
        self._last = 0.0

    def seconds(self) -> float:
        """Return the seconds so far. A call takes about 2 microseconds."""
        if not self._asked:
            self._asked = True
            if portable():
                return 0.0
            with contextlib.suppress(OSError):
                self._file = os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        if self._file is not None:
            with contextlib.suppress(OSError, IndexError, ValueError):  # a thread that has ended
                self._last = int(os.pread(self._file, 64, 0).split()[1]) * 1e-9
        return self._last

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


class Machine:
    """The share of idle processor time on this machine since this object was created."""

    def __init__(self) -> None:
        self._before = self._times()

    def idle(self) -> float | None:
        """Return the share from 0 to 1, None if it is unknown or too little time has passed."""
        idle, total = (now - before for now, before in zip(self._times(), self._before, strict=True))
        return idle / total if total >= 10 else None

    @staticmethod
    def _times() -> tuple[float, float]:
        """Return (idle, total) over all processors, in hundredths of a second."""
        if portable():
            import psutil

            times = psutil.cpu_times()
            return times.idle * 100, sum(times[:8]) * 100
        with contextlib.suppress(OSError, ValueError, IndexError), open("/proc/stat", encoding="ascii") as file:
            values = [int(word) for word in file.readline().split()[1:9]]  # guest time is counted in user time already
            return values[3] + values[4], sum(values)
        return 0.0, 0.0
