"""`run_worker`: run a job in a process that can be killed, and read its results."""

import contextlib
import json
import os
import signal
import socket
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bugzoo.machine import portable, warn_of_untested_torch
from bugzoo.running import handed, overlay, warm
from bugzoo.running.account import Account
from bugzoo.running.endings import from_exit, from_outside, nowhere
from bugzoo.running.job import STEPS, Job
from bugzoo.running.keeping import copy_out
from bugzoo.running.result import Run
from bugzoo.running.writes import SAID, SECOND, Writes
from bugzoo.watching import npz
from bugzoo.watching.records import ErrorRecord
from bugzoo.watching.trace import Trace

_open: set[socket.socket] = set()
_stopping: set[Callable[[], object]] = set()


def run_worker(job: Job, on_step: Callable[[dict[str, Any]], None] | None = None) -> Run:
    """Run `job` in a child of a warm process and return its Run. None of its processes is left running.

    `on_step` gets each step of rank 0 during the run and may raise StopRun. Ctrl-C ends the job as `stopped`, with the
    steps so far. A second Ctrl-C during that raises KeyboardInterrupt.
    """
    warn_of_untested_torch()
    if job.isolated and not portable():
        from bugzoo.running.isolation import empty_folders

        job = replace(job, withheld=empty_folders() | dict(job.withheld or {}))
    folder = Path(tempfile.mkdtemp(prefix="bugzoo-"))
    second = overlay.second_place(folder) if job.overlay and not portable() else None
    try:
        job.save(folder)
        why = "bugzoo runs in portable mode" if portable() else f"{overlay.NO_OVERLAY} is set"
        if job.overlay and (portable() or os.environ.get(overlay.NO_OVERLAY)):
            (folder / SAID).write_text(json.dumps({"apart": False, "why": why}))
        if second is not None:
            (folder / SECOND).write_text(str(second))
        account = _portably(job, folder, on_step) if portable() else _through_zygote(job, folder, on_step)
        run = collect(job, folder, account)
        if job.overlay:
            run.writes = Writes.of(folder, second)
            if job.keep and run.writes.apart:
                cwd = Path(job.cwd or os.getcwd())
                run.writes = replace(run.writes, kept=copy_out(folder, second, cwd, Path(job.keep)))
        return run
    finally:
        for place in filter(None, (second, folder)):
            overlay.remove(place)


def _portably(job: Job, folder: Path, on_step: Callable[[dict[str, Any]], None] | None) -> Account:
    from bugzoo.running import portable as mode

    stopping = threading.Event()
    with stopped_by(stopping.set):
        return mode.run(replace(job, isolated=False), folder, on_step, stopping)


def _through_zygote(job: Job, folder: Path, on_step: Callable[[dict[str, Any]], None] | None) -> Account:
    if job.keep_steps:
        (folder / STEPS).write_bytes(job.keep_steps)
    channel = warm.submit(folder, os.getcwd(), on_step is not None, job.isolated, job.after or "")
    return _follow(channel, on_step)


def _follow(channel: socket.socket, on_step: Callable[[dict[str, Any]], None] | None) -> Account:
    """Read the supervisor's lines up to "done"."""
    from bugzoo.watching import StopRun

    stopping = False
    _open.add(channel)
    with channel, contextlib.ExitStack() as stack:
        stack.callback(_open.discard, channel)
        data = b""
        while True:
            try:
                piece = channel.recv(2**20)
                if not piece:
                    raise RuntimeError("The worker ended without a result: its supervisor was killed from outside.")
                data += piece
                *lines, data = data.split(b"\n") if b"\n" in piece else [data]
                for line in lines:
                    message = json.loads(line)
                    if "done" in message:
                        return Account.from_json(message["done"])
                    if on_step and not stopping:
                        on_step({name: value for name, value in message["step"].items() if name != "rank"})
            except (KeyboardInterrupt, StopRun):
                if stopping:
                    raise  # the channel closes on the way out, which ends the job
                stopping = True
                with contextlib.suppress(OSError):
                    channel.sendall(b"stop\n")


@contextlib.contextmanager
def stopped_by(stop: Callable[[], object]) -> Iterator[None]:
    """Within the block `stop_all` also calls `stop`, from its own thread and perhaps more than once."""
    _stopping.add(stop)
    try:
        yield
    finally:
        _stopping.discard(stop)


def stop_all() -> None:
    """Stop every job that this process is waiting for."""
    for stop in list(_stopping):
        stop()
    for channel in list(_open):
        with contextlib.suppress(OSError):
            channel.sendall(b"stop\n")


def collect(job: Job, folder: Path, account: Account) -> Run:
    """Return the Run of rank 0, with all ranks in `ranks`, from the job's folder and the supervisor's account.

    Files are not trusted, because the script's process may have changed them: plain files of bounded size, no pickle.
    """
    ranks = [_rank(job, folder, account, rank) for rank in range(job.ranks)]
    run = ranks[0]
    try:
        run.files = handed.handed_on(job, folder)
    except npz.TooMuch as why:
        run.trouble, run.spoilt = run.trouble or f"What its run left behind cannot be read: {why}", not run.trouble
    if job.ranks > 1:
        run = replace(run, trace=replace(run.trace), ranks=ranks)
        # the first rank to fail is the cause; the others only lost their connection to it
        bad = [rank for rank in range(job.ranks) if ranks[rank].outcome not in ("finished", "stopped")]
        bad.sort(key=lambda rank: _written(folder / f"result-{rank}.json"))
        if bad:
            run.trace.outcome, run.trace.error = ranks[bad[0]].outcome, ranks[bad[0]].trace.error
    for part in ("after", "export"):
        if part in run.trace.error and not job.quiet and run.outcome != "stopped":
            why = run.trace.error.get(part)
            warnings.warn(f"Job.{part} failed in the worker:\n{why}", RuntimeWarning, stacklevel=3)
    return run


def _rank(job: Job, folder: Path, account: Account, rank: int) -> Run:
    try:
        run = handed.read(job, folder, rank)
    except Exception:  # no file, or one that the script has damaged
        run = Run(_partial(account.steps.get(str(rank), [])), job.source, job.file, seconds=account.seconds)
        run.trace.outcome, run.trace.error = from_exit(account.exit_code, account.stdout)
        if job.ranks > 1:
            run.trace.outcome, run.trace.error = _of_rank(folder / f"exit-{rank}", account.stdout)
    run.stdout, run.elapsed = account.stdout, account.seconds
    run.trace.environment["peak_mib"] = round(account.peak_mib, 1)
    unread = account.unread.get(str(rank), "")
    if trouble := account.trouble or unread:
        run.trouble, run.trace.outcome, run.trace.error = trouble, "crashed", nowhere("NotRead", trouble)
        run.spoilt = not account.trouble
        return run
    from_outside(run.trace, job, account, rank)
    return run


def _of_rank(path: Path, printed: str) -> tuple[str, ErrorRecord]:
    """Return (outcome, error record) of a rank without results, from the exit code that the launcher saw."""
    try:
        with npz.opened(path, 100) as file:
            code = int(file.read())
    except Exception:  # none was written
        code = -signal.SIGTERM
    if code == -signal.SIGTERM:  # the launcher's own
        return "stopped", {"type": "Stopped", "message": "ended with the other ranks"}
    return from_exit(code, printed)


def _written(path: Path) -> float:
    """Return when a file was written, in seconds, infinity for a missing file."""
    try:
        return path.lstat().st_mtime
    except OSError:
        return float("inf")


def _partial(steps: list[list[float]]) -> Trace:
    """Return a trace with the steps that were reported before the process was lost."""
    trace = Trace()
    if steps:
        trace.step, trace.loss, trace.grad_norm = np.array(steps, dtype=np.float64).T.copy()
    return trace
