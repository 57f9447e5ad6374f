"""`run_worker`: execute a job in a process that can be killed, and read back what it left."""

import contextlib
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bugzoo.errors import UserError
from bugzoo.running import handed, warm
from bugzoo.running.endings import from_exit
from bugzoo.running.job import Job
from bugzoo.running.result import Run
from bugzoo.watching import npz
from bugzoo.watching.trace import Trace

_open: set[socket.socket] = set()


def run_worker(job: Job, on_step: Callable[[dict[str, Any]], None] | None = None) -> Run:
    """Run `job` in a child of a warm process and return what came of it; nothing of it is left running.

    `on_step` gets the steps of rank 0 as they come and may raise StopRun. Ctrl-C ends the job as `stopped`, with the
    steps that were taken; a second one while it is being ended raises KeyboardInterrupt.
    """
    if sys.platform != "linux":
        raise UserError("Workers need Linux (limits and clean-up use /proc). Run this with where='here'.")
    folder = Path(tempfile.mkdtemp(prefix="bugzoo-"))
    try:
        job.save(folder)
        done = _follow(warm.submit(folder, os.getcwd(), on_step is not None, job.isolated), on_step)
        return collect(job, folder, done)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _follow(channel: socket.socket, on_step: Callable[[dict[str, Any]], None] | None) -> dict[str, Any]:
    """Read the supervisor's lines up to "done"."""
    from bugzoo.watching import StopRun

    asked = False
    _open.add(channel)
    with channel, contextlib.ExitStack() as stack:
        stack.callback(_open.discard, channel)
        data = b""
        while True:
            try:
                piece = channel.recv(2**20)
                if not piece:
                    raise RuntimeError("The worker ended without an answer; its supervisor was killed from outside.")
                data += piece
                *lines, data = data.split(b"\n") if b"\n" in piece else [data]
                for line in lines:
                    message = json.loads(line)
                    if "done" in message:
                        return message["done"]
                    if on_step and not asked:
                        on_step({name: value for name, value in message["step"].items() if name != "rank"})
            except (KeyboardInterrupt, StopRun):
                if asked:
                    raise  # the channel closes on the way out, which ends the job
                asked = True
                with contextlib.suppress(OSError):
                    channel.sendall(b"stop\n")


def stop_all() -> None:
    """Ask every job that this process is waiting for to stop."""
    for channel in list(_open):
        with contextlib.suppress(OSError):
            channel.sendall(b"stop\n")


def collect(job: Job, folder: Path, done: dict[str, Any]) -> Run:
    """The Run of rank 0 with the others in `ranks`, put together from the folder and the supervisor's account.

    Files are taken as whatever the script's process may have made of them: plain files of bounded size, no pickle.
    """
    ranks = [_rank(job, folder, done, rank) for rank in range(job.ranks)]
    run = ranks[0]
    if job.ranks > 1:
        run = replace(run, trace=replace(run.trace), ranks=ranks)
        # the first to fail is the cause, the others lost their connection to it
        bad = [rank for rank in range(job.ranks) if ranks[rank].outcome not in ("finished", "stopped")]
        bad.sort(key=lambda rank: _written(folder / f"result-{rank}.json"))
        if bad:
            run.trace.outcome, run.trace.error = ranks[bad[0]].outcome, ranks[bad[0]].trace.error
    for part in ("after", "export"):
        if part in run.trace.error and not job.quiet and run.outcome != "stopped":
            warnings.warn(f"Job.{part} failed in the worker:\n{run.trace.error[part]}", RuntimeWarning, stacklevel=3)
    return run


def _rank(job: Job, folder: Path, done: dict[str, Any], rank: int) -> Run:
    try:
        run = handed.read(job, folder, rank)
    except Exception:  # no file, or one that the script spoilt, which counts as none
        run = Run(_partial(done["steps"].get(str(rank), [])), job.source, job.file, seconds=done["seconds"])
        run.trace.outcome, run.trace.error = from_exit(done["exit_code"])
        if job.ranks > 1:
            run.trace.outcome, run.trace.error = _of_rank(folder / f"exit-{rank}")
    run.stdout, run.elapsed = done["stdout"], float(done["seconds"])
    run.trace.environment["peak_mib"] = round(done["peak_mib"], 1)
    reason = done["reason"]
    if trouble := done["trouble"] or done["unread"].get(str(rank), ""):
        run.trouble, run.trace.outcome = trouble, "crashed"
        run.trace.error = {"type": "NotRead", "message": trouble, "file": None, "line": None, "traceback": ""}
        return run
    if done["full"] and run.trace.error.get("type") == "Exit":
        run.trace.error |= {"type": "DiskLimit", "message": f"its folder is full ({job.limits.result_mib} MiB)"}
    if job.ranks > 1 and reason == "hung" and run.outcome == "finished":
        return run  # this rank had come to its end; the others say what hung
    if reason in ("timed_out", "hung", "stopped", "out_of_memory"):
        run.trace.outcome = reason
    if reason == "stopped" and run.trace.error.get("type") in ("Exit", "Killed"):
        run.trace.error = {}  # it was ended from here, before it had results; that says nothing about the script
    if reason in ("timed_out", "hung"):
        message = f"ended after {done['seconds']:.1f} s (limit {job.limits.seconds:g} s)"
        run.trace.error = {"type": reason, "message": message, "file": None, "line": None, "traceback": ""}
        run.trace.error["stacks"] = {name: _of_script(stack, job.file) for name, stack in done["stacks"].items()}
        run.trace.error |= _place(done["stacks"].get(str(rank), []), job.file)
    elif reason == "out_of_memory":
        message = f"ended at {done['peak_mib']:.0f} MiB (limit {job.limits.memory_mib} MiB above the imports)"
        run.trace.error = {"type": "MemoryLimit", "message": message, "file": None, "line": None, "traceback": ""}
    elif reason == "processes":
        message = f"more than {job.limits.processes} processes at once"
        run.trace.outcome = "crashed"
        run.trace.error = {"type": "ProcessLimit", "message": message, "file": None, "line": None, "traceback": ""}
    return run


def _of_rank(path: Path) -> tuple[str, dict[str, Any]]:
    """(outcome, error record) of a rank that handed nothing over, from the exit code that the launcher saw."""
    try:
        with npz.opened(path, 100) as file:
            code = int(file.read())
    except Exception:  # none was written
        code = -signal.SIGTERM
    if code == -signal.SIGTERM:  # the launcher's own
        return "stopped", {"type": "Stopped", "message": "ended with the other ranks"}
    return from_exit(code)


def _of_script(stack: list[str], file: str) -> list[str]:
    """`stack` (innermost call first) without the frames below the script's own, which are ours."""
    own = [index for index, line in enumerate(stack) if line.startswith(f'File "{file}", line ')]
    return stack[: own[-1] + 1] if own else stack


def _place(stack: list[str], file: str) -> dict[str, Any]:
    """{"file", "line"} of the innermost frame of the script in a stack."""
    for line in stack:
        if line.startswith(f'File "{file}", line '):
            return {"file": file, "line": int(line.split(", line ")[1].split()[0])}
    return {}


def _written(path: Path) -> float:
    """When a file was written, seconds; infinity for one that is not there."""
    try:
        return path.lstat().st_mtime
    except OSError:
        return float("inf")


def _partial(steps: list[list[float]]) -> Trace:
    """A trace with the steps that were reported before the process was lost."""
    trace = Trace()
    if steps:
        trace.step, trace.loss, trace.grad_norm = np.array(steps, dtype=np.float64).T.copy()
    return trace
