"""What a busy machine takes away from a run, so that its slowness is not blamed on the training."""

import contextlib
import os

from bugzoo.machine import portable


class Waits:
    """The seconds that one thread was ready to run while others had the processors, as Linux counts them.

    Taken off the wall time, they leave what an idle machine would have taken. Elsewhere, and in a container that hides
    them, they are 0. The thread is the one that asks first.
    """

    def __init__(self) -> None:
        self._file: int | None = None
        self._asked = False
        self._last = 0.0

    def seconds(self) -> float:
        """So far; about 2 microseconds."""
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
    """How much of its processors' time the machine had left over since this was made."""

    def __init__(self) -> None:
        self._before = self._times()

    def idle(self) -> float | None:
        """Share from 0 to 1; None where it is not told, or too little time has gone by."""
        idle, total = (now - before for now, before in zip(self._times(), self._before, strict=True))
        return idle / total if total >= 10 else None

    @staticmethod
    def _times() -> tuple[float, float]:
        """(idle, all), in hundredths of a second of every processor."""
        if portable():
            import psutil

            times = psutil.cpu_times()
            return times.idle * 100, sum(times[:8]) * 100
        with contextlib.suppress(OSError, ValueError, IndexError), open("/proc/stat", encoding="ascii") as file:
            values = [int(word) for word in file.readline().split()[1:9]]  # guest time is counted in user time already
            return values[3] + values[4], sum(values)
        return 0.0, 0.0
