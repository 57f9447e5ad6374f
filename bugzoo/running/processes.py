"""Measure the memory of a supervisor's child processes, read their stacks, kill them (Linux)."""

import contextlib
import os
import signal
import time
from pathlib import Path

import psutil

from bugzoo.machine import portable
from bugzoo.watching import npz

_MOST_RANKS, _MOST_PROCESSES = 64, 100
_STACK, _FRAMES, _FRAME = 2**16, 60, 1000
"""Bytes of a stack's file that are read, from its end, frames that are kept, and characters of a frame."""


def send(pid: int, what: signal.Signals) -> None:
    if pid <= 0:
        return  # the process is gone; 0 and below would be whole groups
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, what)


def below(pid: int) -> list[psutil.Process]:
    """Return `pid` and its descendants that still exist."""
    with contextlib.suppress(psutil.Error):
        top = psutil.Process(pid)
        return [top, *top.children(recursive=True)]
    return []


def field(pid: int, file: str, *names: str) -> int:
    """Return the sum of `names` in /proc/PID/FILE in bytes, 0 if the process is gone."""
    total = 0
    with contextlib.suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/{file}").read_text().splitlines():
            if line.split(":")[0] in names:
                total += int(line.split()[1]) * 1024
    return total


def shares(pids: list[int]) -> tuple[float, float]:
    """Return (total processor seconds, the longest time that one of them was ready but waited for a processor).

    Linux counts this for their main threads; `own_time` counts all threads. Other systems give 0.
    """
    used, waited = 0.0, 0.0
    if portable():
        for pid in pids:
            with contextlib.suppress(psutil.Error):
                used += sum(psutil.Process(pid).cpu_times()[:2])
        return used, waited
    for pid in pids:
        with contextlib.suppress(OSError, ValueError, IndexError):
            busy, others, *_ = Path(f"/proc/{pid}/schedstat").read_text().split()
            used, waited = used + int(busy) * 1e-9, max(waited, int(others) * 1e-9)
    return used, waited


def own_peak() -> int:
    """Return the most memory that this process has had at once, in bytes."""
    return field(os.getpid(), "status", "VmHWM")


class Memory:
    """The memory of a script's processes, without the imports that they were forked with."""

    def __init__(self, child: int, limit_mib: int | None) -> None:
        self.child, self.limit = child, limit_mib and limit_mib * 2**20
        self.base = field(os.getpid(), "status", "RssAnon", "RssShmem")
        self.peak = 0
        self.members = [child]
        self.looked = 0.0

    def exceeded(self) -> bool:
        """Measure once and return whether the limit is exceeded. Updates `members` and `peak` (bytes)."""
        now = time.monotonic()
        if now - self.looked > 0.2:
            self.looked = now
            # all descendants of the supervisor, including orphans
            self.members = [process.pid for process in below(os.getpid())[1:]]
        used = sum(field(pid, "status", "RssAnon", "RssShmem") for pid in self.members) - self.base
        if len(self.members) > 1 and self.limit and used > self.limit:
            # pages shared with a fork were counted twice; the proportional set size counts them once, but is slower
            used = sum(field(pid, "smaps_rollup", "Pss_Anon", "Pss_Shmem") for pid in self.members) - self.base
        self.peak = max(self.peak, used)
        # the exact resource limit applies first; this check covers shared memory and several processes
        return bool(self.limit) and used > self.limit * 1.05 + 16 * 2**20


def inner(pid: int) -> int:
    """Return the process id as the process itself sees it, which differs inside a sandbox."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("NSpid:"):
                return int(line.split()[-1])
    return pid


def ranks(folder: Path) -> list[int]:
    """Return the process ids of the ranks (one for a single process), in order. Only our own children count."""
    children = {inner(process.pid): process.pid for process in below(os.getpid())[1:]}
    pids = []
    for rank in range(_MOST_RANKS):  # by name: a script may have filled the folder
        try:
            with npz.opened(folder / f"rank-{rank:03d}.pid", 32) as file:
                pids.append(children.get(int(file.read(32)), 0))
        except (OSError, ValueError, npz.TooMuch):
            continue
    return pids


def dump_stacks(child: int, folder: Path) -> dict[str, list[str]]:
    """Return each process's current Python stack, innermost call first, as `File "train.py", line 12 in <module>`.

    Keys: "0", "1", ... for ranks ("0" for a single process), "process PID" for others, such as loader workers.
    """
    pids = []
    for process in below(os.getpid())[1:][:_MOST_PROCESSES]:
        if _catches(process.pid, signal.SIGUSR1):
            send(process.pid, signal.SIGUSR1)
            pids.append(process.pid)
    names = {pid: str(rank) for rank, pid in enumerate(ranks(folder))}
    deadline, result = time.monotonic() + 1.0, {}
    while len(result) < len(pids) and time.monotonic() < deadline:
        time.sleep(0.05)
        for pid in pids:
            lines = stack(folder / f"stack-{inner(pid)}.txt")
            if lines:
                result[names.get(pid, f"process {pid}")] = lines
    result.pop(f"process {child}", None)  # the launcher
    return result


def _catches(pid: int, what: signal.Signals) -> bool:
    with contextlib.suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("SigCgt:"):
                return bool(int(line.split()[1], 16) >> (what - 1) & 1)
    return False


def stack(path: Path) -> list[str]:
    """Return the main thread's frames from faulthandler's text (its last block)."""
    with contextlib.suppress(OSError, npz.TooMuch):
        with npz.opened(path, 2**40) as file:
            file.seek(max(os.fstat(file.fileno()).st_size - _STACK, 0))
            lines = file.read(_STACK).decode("utf-8", "replace").splitlines()
        starts = [index for index, line in enumerate(lines) if line.startswith(("Current thread", "Thread"))]
        if starts:
            # of several threads the main one is listed last
            return [line.strip()[:_FRAME] for line in lines[starts[-1] + 1 :] if line.strip()][:_FRAMES]
    return []


def end_all(child: int, ended: bool) -> int:
    """Kill and reap all child processes. Returns the script's exit code (negative: the signal that killed it).

    Processes are first stopped, then killed, in a loop, so that a process that keeps forking cannot escape.
    """
    status = 0
    if not ended:
        send(child, signal.SIGKILL)
    while True:
        family = below(os.getpid())[1:]
        for process in family:
            if process.pid != child or not ended:
                send(process.pid, signal.SIGSTOP)
        for process in family:
            if process.pid != child or not ended:
                send(process.pid, signal.SIGKILL)
        try:
            while (reaped := os.waitpid(-1, os.WNOHANG))[0]:
                if reaped[0] == child:
                    status = os.waitstatus_to_exitcode(reaped[1])
        except ChildProcessError:
            return status
        time.sleep(0.002)
