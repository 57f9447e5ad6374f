"""What a supervisor does to the processes below it: count their memory, ask for their stacks, end them (Linux)."""

import contextlib
import os
import signal
import time
from pathlib import Path

import psutil

from bugzoo.machine import portable


def send(pid: int, what: signal.Signals) -> None:
    if pid <= 0:
        return  # somebody who is gone; 0 and below would be whole groups
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, what)


def below(pid: int) -> list[psutil.Process]:
    """`pid` and its descendants, the ones that are still there."""
    with contextlib.suppress(psutil.Error):
        top = psutil.Process(pid)
        return [top, *top.children(recursive=True)]
    return []


def field(pid: int, file: str, *names: str) -> int:
    """Sum of `names` in /proc/PID/FILE, bytes; 0 when the process is gone."""
    total = 0
    with contextlib.suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/{file}").read_text().splitlines():
            if line.split(":")[0] in names:
                total += int(line.split()[1]) * 1024
    return total


def shares(pids: list[int]) -> tuple[float, float]:
    """(seconds of processor time of all of them, the longest that one of them was ready and others had the processors).

    Of their main threads, as Linux counts them; 0 where it does not.
    """
    used, waited = 0.0, 0.0
    if portable():
        for pid in pids:
            with contextlib.suppress(psutil.Error):
                used += sum(psutil.Process(pid).cpu_times()[:2])
        return used, waited
    for pid in pids:
        with contextlib.suppress(OSError, ValueError, IndexError):
            mine, others, *_ = Path(f"/proc/{pid}/schedstat").read_text().split()
            used, waited = used + int(mine) * 1e-9, max(waited, int(others) * 1e-9)
    return used, waited


class Memory:
    """The memory of a script's processes above that of the imports they were forked with."""

    def __init__(self, child: int, limit_mib: int | None) -> None:
        self.child, self.limit = child, limit_mib and limit_mib * 2**20
        self.base = field(os.getpid(), "status", "RssAnon", "RssShmem")
        self.peak = 0
        self.members = [child]
        self.looked = 0.0

    def exceeded(self) -> bool:
        """Look once; `members` and `peak` (bytes) are refreshed on the way."""
        now = time.monotonic()
        if now - self.looked > 0.2:
            self.looked = now
            # everything below the supervisor: orphans as well
            self.members = [process.pid for process in below(os.getpid())[1:]]
        used = sum(field(pid, "status", "RssAnon", "RssShmem") for pid in self.members) - self.base
        if len(self.members) > 1 and self.limit and used > self.limit:
            # pages shared with a fork were counted twice; the proportional set size is slower and counts them once
            used = sum(field(pid, "smaps_rollup", "Pss_Anon", "Pss_Shmem") for pid in self.members) - self.base
        self.peak = max(self.peak, used)
        # the resource limit comes first and is exact; this catches shared memory and several processes
        return bool(self.limit) and used > self.limit * 1.05 + 16 * 2**20


def inner(pid: int) -> int:
    """The process's own idea of its id, which differs inside a sandbox."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("NSpid:"):
                return int(line.split()[-1])
    return pid


def ranks(folder: Path) -> list[int]:
    """Process ids of the ranks (one for a script alone), in order: those that they wrote down and that are ours."""
    ours = {inner(process.pid): process.pid for process in below(os.getpid())[1:]}
    pids = []
    for path in sorted(folder.glob("rank-*.pid"))[:64]:
        with contextlib.suppress(OSError, ValueError):
            if path.is_file() and not path.is_symlink() and path.stat().st_size < 32:
                pids.append(ours.get(int(path.read_text()), 0))
    return pids


def dump_stacks(child: int, folder: Path) -> dict[str, list[str]]:
    """The Python stack of each process now, innermost call first, as `File "train.py", line 12 in <module>`.

    Keys: "0", "1", ... for ranks ("0" for a script alone); "process PID" for others, such as loader workers.
    """
    asked = []
    for process in below(os.getpid())[1:]:
        if _catches(process.pid, signal.SIGUSR1):
            send(process.pid, signal.SIGUSR1)
            asked.append(process.pid)
    names = {pid: str(rank) for rank, pid in enumerate(ranks(folder))}
    deadline, result = time.monotonic() + 1.0, {}
    while len(result) < len(asked) and time.monotonic() < deadline:
        time.sleep(0.05)
        for pid in asked:
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
    """The main thread's frames in faulthandler's text (its last block)."""
    with contextlib.suppress(OSError):
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(handle, encoding="utf-8", errors="replace") as file:
            lines = file.read(2**20).splitlines()
        starts = [index for index, line in enumerate(lines) if line.startswith(("Current thread", "Thread"))]
        if starts:
            # of several threads the main one is listed last
            return [line.strip() for line in lines[starts[-1] + 1 :] if line.strip()][:60]
    return []


def end_all(child: int, ended: bool) -> int:
    """Kill and reap everything below this process; the script's exit code (negative: the signal that ended it).

    Stopped first and killed then, again and again, so that a process that forks cannot outrun this.
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
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                if found[0] == child:
                    status = os.waitstatus_to_exitcode(found[1])
        except ChildProcessError:
            return status
        time.sleep(0.002)
