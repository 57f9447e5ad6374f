"""How long a job has waited for other programs, and how much processor time all of its threads have used (Linux).

On a busy machine a script needs longer, and that must not end it. A job whose own threads or processes compete for the
cores waits as well, but for itself. So the two are told apart: at any time its threads that run, or could run, are
entitled to one core each, as far as the cores that they may use suffice. What they get less than that went to others.
"""

import contextlib
import os
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from bugzoo.machine import cores

_OFTEN = 0.5
"""Seconds between two looks."""


class OwnTime:
    """Counts from the first look, which only notes where each thread stands.

    `most`: cores that the job is entitled to at once, however many threads it starts. None: all that it may use.
    """

    def __init__(self, most: int | None = None) -> None:
        self.most = most or cores()
        self.used = 0.0
        """Processor seconds of all threads of all processes, also of those that have ended."""
        self.waited = 0.0
        """Seconds that other programs took from the job."""
        self.threads = 0
        self._before: dict[int, float] = {}
        self._begun = self._total = 0.0
        self._looked: float | None = None

    def look(self, pids: Iterable[int], now: bool = False) -> None:
        """Measure, at most twice a second unless `now`. `pids`: the job's processes, children of the calling one."""
        at = time.monotonic()
        if self._looked is not None and at - self._looked < (0.02 if now else _OFTEN):
            return
        pids = list(pids)
        after = {thread: _run_and_waited(pid, thread) for pid in pids for thread in _threads(pid)}
        total, self.threads = _processor_seconds(pids), len(after)
        if self._looked is None:
            self._begun = total
        else:
            passed = at - self._looked
            got = max(total - self._total, 0.0) / passed
            entitled = max(min(self._wanted(after, passed), self.most, cores()), got)
            self.waited += passed * (entitled - got) / max(entitled, 1.0)
        self._looked, self._before = at, after
        # a process that ended without its parent's notice takes its time with it
        self._total = max(self._total, total)
        self.used = self._total - self._begun

    def _wanted(self, after: dict[int, float], passed: float) -> float:
        """Return how many cores the threads could have used. Those that share some may use no more than these."""
        demand: defaultdict[frozenset[int], float] = defaultdict(float)
        for thread, ready in after.items():
            with contextlib.suppress(OSError):  # it has ended
                demand[frozenset(os.sched_getaffinity(thread))] += max(ready - self._before.get(thread, 0.0), 0.0)
        return sum(min(seconds / passed, len(allowed)) for allowed, seconds in demand.items())


def _threads(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    return []


def _run_and_waited(pid: int, thread: int) -> float:
    """Return the seconds that a thread has run or was ready to run; 0 if the kernel does not count them."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        ran, waited, *_ = Path(f"/proc/{pid}/task/{thread}/schedstat").read_text().split()
        return (int(ran) + int(waited)) * 1e-9
    return 0.0


def _processor_seconds(pids: Iterable[int]) -> float:
    """Return the processor seconds of processes, with their ended threads and the children that they waited for."""
    total, tick = sum(os.times()[2:4]), os.sysconf("SC_CLK_TCK")
    for pid in pids:
        with contextlib.suppress(OSError, ValueError, IndexError):
            # the name before the last bracket may hold anything
            fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
            total += sum(map(int, fields[11:15])) / tick
    return total
