"""The mode for machines without Linux's own means: a fresh process for each run, and limits by psutil.

It is on where the system is not Linux, and with BUGZOO_PORTABLE=1. Nothing is forked, nothing under /proc is read, and no
namespace, mount, prctl or seccomp filter is asked for. Own scripts, lessons, exercises and interviews run; hand-ins of other
people are not graded, as there is no sandbox. `docs/portable.md` says what else differs.
"""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from bugzoo.running import processes
from bugzoo.running.account import Account
from bugzoo.running.draw import PIPES, Draw
from bugzoo.running.job import Job
from bugzoo.running.printing import HeadTail

GRACE = 3.0
"""Seconds that a script has, after SIGINT, to save the part of its trace that exists."""
_MOST_STEPS = 200_000
_STARVED = 2.0
"""A script whose processes had less processor time than its limit goes on to so many times the limit by the clock."""
_MIB = 2**20
_lock = threading.Lock()
_spare: list[subprocess.Popen[bytes]] = []


def warm_up() -> None:
    """Start the process for the next run now, so that it has imported torch by then (2 to 6 s)."""
    with _lock:
        if not [spare for spare in _spare if spare.poll() is None]:
            _spare[:] = [_start()]


def _start() -> subprocess.Popen[bytes]:
    root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, "-m", "bugzoo.running.portable_child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=os.environ | {"PYTHONPATH": path, "PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8:replace"},
        start_new_session=True,  # Ctrl-C in a terminal goes to the caller alone, who then stops its runs
    )


def run(job: Job, folder: Path, on_step: Callable[[dict[str, Any]], None] | None, stopping: threading.Event) -> Account:
    """Run the job in `folder` in a process of its own, and return the account of it, seen from outside.

    `on_step` gets each step of rank 0 during the run and may raise StopRun. `stopping`, once set, ends the run as stopped.
    """
    with _lock:
        waiting = [spare for spare in _spare if spare.poll() is None]
        _spare.clear()
    process = waiting[0] if waiting else _start()
    warm_up()  # the next run's process imports torch while this one runs
    try:
        return _Watch(job, folder, process, on_step, stopping).run()
    finally:
        _end(process)


class _Watch:
    """One run, seen from the caller's process."""

    def __init__(self, job: Job, folder: Path, process: Any, on_step: Any, stopping: threading.Event) -> None:
        self.job, self.folder, self.process, self.on_step, self.stopping = job, folder, process, on_step, stopping
        self.printed = HeadTail(int(job.limits.output_mib * _MIB))
        self.steps: dict[int, list[list[float]]] = {}
        self.reason, self.unread, self.begun = "", b"", False
        self.base = self.peak = 0.0
        self.looked = self.used = 0.0
        self.members: list[psutil.Process] = []
        self.started = self.last_step = time.monotonic()
        os.mkfifo(folder / "progress")
        self.progress = os.open(folder / "progress", os.O_RDONLY | os.O_NONBLOCK)
        self.made: Counter[int] = Counter()
        self.draws: dict[int, tuple[Draw, int]] = {}
        for rank in range(job.ranks if job.keep_steps else 0):
            questions, answers = (folder / name.format(rank) for name in PIPES)
            os.mkfifo(questions)
            os.mkfifo(answers)
            draw = Draw(job.keep_steps, folder, rank, job.limits.result_mib)
            end = os.open(questions, os.O_RDONLY | os.O_NONBLOCK)
            self.draws[end] = (draw, os.open(answers, os.O_RDWR | os.O_NONBLOCK))

    def run(self) -> Account:
        request = {"folder": str(self.folder), "cwd": os.getcwd(), "path": sys.path}
        stacks: dict[str, list[str]] = {}
        code, seconds = 1, 0.0
        with selectors.DefaultSelector() as watched, contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
            os.set_blocking(self.process.stdout.fileno(), False)
            watched.register(self.process.stdout, selectors.EVENT_READ)
            watched.register(self.progress, selectors.EVENT_READ)
            for end in self.draws:
                watched.register(end, selectors.EVENT_READ)
            while self.process.poll() is None and not self.reason:
                self._turn(watched, 0.03)
                self.reason = self.reason or self._broken_limit()
            if self.reason in ("timed_out", "hung"):
                stacks = self._stacks()
            if self.reason in ("timed_out", "hung", "stopped"):
                self._ask_to_stop(watched)
            seconds = time.monotonic() - self.started
            code = _end(self.process)
            while self._turn(watched, 0):
                pass
        for end in (self.progress, *self.draws, *(answers for _, answers in self.draws.values())):
            os.close(end)
        return Account(
            exit_code=code, seconds=seconds, peak_mib=self.peak, stdout=self.printed.text(), reason=self.reason,
            stacks=stacks, unread={str(draw.rank): f"{draw.broken}." for draw, _ in self.draws.values() if draw.broken},
            steps={str(rank): taken for rank, taken in self.steps.items()},
        )  # fmt: skip

    def _turn(self, watched: selectors.BaseSelector, timeout: float) -> bool:
        """Move what the script printed and the steps that it reported. True when something was read."""
        moved = False
        try:
            for key, _ in watched.select(timeout):
                with contextlib.suppress(BlockingIOError):
                    data = os.read(key.fd, _MIB)
                    moved = moved or bool(data)
                    if key.fd == self.progress:
                        self._take(data)
                    elif key.fd in self.draws:
                        self._asked(data, *self.draws[key.fd])
                    elif data:
                        self.printed.add(data)
                    else:
                        watched.unregister(key.fileobj)
                    if not data and timeout:
                        time.sleep(0.01)  # a pipe without a writer is always ready
        except KeyboardInterrupt:
            self._stopped()
        return moved

    def _take(self, data: bytes) -> None:
        """Lines {"begun"} and {"step", "loss", "grad_norm", "seconds", "rank"}; anything else is dropped."""
        from bugzoo.watching import StopRun

        *lines, self.unread = (self.unread + data).split(b"\n")
        for line in lines:
            try:
                info = json.loads(line)
                if "begun" in info:
                    self._begin()
                    continue
                rank, numbers = int(info["rank"]), [int(info["step"]), float(info["loss"]), float(info["grad_norm"])]
            except (ValueError, TypeError, KeyError):
                continue
            self.last_step = time.monotonic()
            self.made[rank] += 1
            taken = self.steps.setdefault(rank, [])
            if len(taken) < _MOST_STEPS:
                taken.append(numbers)
            if self.on_step and rank == 0 and self.reason != "stopped":
                try:
                    self.on_step({name: value for name, value in info.items() if name != "rank"})
                except (KeyboardInterrupt, StopRun):
                    self._stopped()

    def _asked(self, data: bytes, draw: Draw, answers: int) -> None:
        """Answer a rank that asks whether its step is kept, or take a part of that step."""
        with contextlib.suppress(BlockingIOError):
            self._take(os.read(self.progress, _MIB))  # what it reported before it asked
        if answer := draw.take(data, self.made[draw.rank]):
            os.write(answers, answer)

    def _begin(self) -> None:
        """The imports are over: time and memory count from here."""
        if not self.begun:
            self.begun, self.started = True, time.monotonic()
            self.last_step = self.started
            self._look(0.0)
            self.base = self._resident()

    def _stopped(self) -> None:
        if self.reason == "stopped":
            raise KeyboardInterrupt  # a second time: the run is ended on the way out
        self.reason = "stopped"

    def _broken_limit(self) -> str:
        limits, now = self.job.limits, time.monotonic()
        if self.stopping.is_set():
            return "stopped"
        if any(draw.broken for draw, _ in self.draws.values()):
            return "asked"
        if not self.begun:
            return ""
        elapsed, quiet = now - self.started, now - self.last_step
        self._look(0.2)
        if elapsed > limits.seconds and (self.used > limits.seconds or elapsed > _STARVED * limits.seconds):
            stepped = bool(self.steps) or self.job.ranks > 1
            return "hung" if stepped and quiet > max(2.0, min(10.0, limits.seconds / 4)) else "timed_out"
        if limits.quiet_seconds and self.steps and quiet > limits.quiet_seconds:
            return "hung"
        if limits.memory_mib and self.peak > limits.memory_mib:
            return "out_of_memory"
        return "processes" if len(self.members) > limits.processes else ""

    def _look(self, every: float) -> None:
        """Refresh the processes of the run, their processor time (s) and memory (MiB above the imports)."""
        now = time.monotonic()
        if now - self.looked < every:
            return
        self.looked = now
        self.members = processes.below(self.process.pid)
        self.used = max(self.used, processes.shares([member.pid for member in self.members])[0])
        if self.begun:
            self.peak = max(self.peak, self._resident() - self.base)

    def _resident(self) -> float:
        total = 0
        for member in self.members:
            with contextlib.suppress(psutil.Error):
                total += member.memory_info().rss
        return total / _MIB

    def _ask_to_stop(self, watched: selectors.BaseSelector) -> None:
        """SIGINT to the script (each rank of it) and a little time: KeyboardInterrupt lets it save its trace."""
        for pid in self._ranks() or [self.process.pid]:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGINT)
        deadline = time.monotonic() + (1.0 if self.job.ranks > 1 else GRACE)
        results = [self.folder / f"result-{rank}.json" for rank in range(self.job.ranks)]
        while self.process.poll() is None and time.monotonic() < deadline and not all(map(Path.exists, results)):
            self._turn(watched, 0.03)

    def _ranks(self) -> list[int]:
        """Process ids of the ranks, in order: those that they wrote down and that are ours."""
        family = {process.pid for process in processes.below(self.process.pid)}
        pids = []
        for path in sorted(self.folder.glob("rank-*.pid")):
            with contextlib.suppress(OSError, ValueError):
                pids.append(int(path.read_text()))
        return [pid for pid in pids if pid in family]

    def _stacks(self) -> dict[str, list[str]]:
        """The Python stack of each rank now, innermost call first; key: the rank as text."""
        ranks = self._ranks()
        for pid in ranks:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGUSR1)
        deadline, stacks = time.monotonic() + 1.0, {}
        while len(stacks) < len(ranks) and time.monotonic() < deadline:
            time.sleep(0.05)
            stacks = {str(rank): processes.stack(self.folder / f"stack-{pid}.txt") for rank, pid in enumerate(ranks)}
            stacks = {rank: lines for rank, lines in stacks.items() if lines}
        return stacks


def _end(process: subprocess.Popen[bytes]) -> int:
    """Kill what is left of a run, and return its exit code (negative: the signal that ended it)."""
    for member in processes.below(process.pid)[::-1] if process.poll() is None else []:
        with contextlib.suppress(psutil.Error):
            member.kill()
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)  # what the script left behind is in its session
    code = process.wait()
    for pipe in (process.stdin, process.stdout):
        with contextlib.suppress(OSError, BrokenPipeError):
            if pipe:
                pipe.close()
    return code
