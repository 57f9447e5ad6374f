"""The process that runs a job's script. The supervisor forks it from the warm process."""

import contextlib
import faulthandler
import json
import os
import signal
import socket
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bugzoo.errors import UserError
from bugzoo.running import overlay, writes
from bugzoo.running.draw import Asking
from bugzoo.running.elastic import launch
from bugzoo.running.here import resolve
from bugzoo.running.isolation import confine, isolate
from bugzoo.running.job import WORK, Job
from bugzoo.running.script import run_script

_stack_file: Any = None
READY = b"ready"
"""Sent to the supervisor through the gate when the sandbox is ready. Anything else is the reason of a failure."""


def enter(
    folder: Path, cwd: str, path: list[str], job: Job, output: int, progress: int, gate: int, asking: list[int]
) -> int:
    """Become the script's process: own session, own streams, limits. Returns the exit code.

    `gate` sends the sandbox's folder to the supervisor. It is closed before the script starts, so that no script can
    write to it. `asking`: for each rank the socket on which it asks which steps are kept; empty where none is.
    """
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDONLY)
    for stream, target in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(stream, target)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.stdout, sys.stderr = (
        open(handle, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False) for handle in (1, 2)
    )
    sys.dont_write_bytecode = True
    os.environ.update(job.env)
    before, sys.path[:] = list(sys.path), path  # the caller's path, so that `after` can name the caller's modules
    if job.isolated:
        if job.after:
            resolve(job.after)  # imported now, because the sandbox shows only a few packages of bugzoo
        try:
            place = isolate(folder, job.limits.result_mib, job.withheld or {})
            confine(job)
        except (OSError, RuntimeError) as error:
            os.write(gate, str(error).encode()[:2000])
            return 1
        cwd, sys.path[:] = "/tmp", before
        with socket.socket(fileno=gate) as supervisor:
            socket.send_fds(supervisor, [READY], [place])
        os.close(place)
    if job.overlay and not (folder / writes.SAID).exists():
        set_apart(folder, job.cwd or cwd, os.path.dirname(os.path.abspath(job.file)))
    fresh_seeds()
    os.chdir(folder / WORK if job.bring_mib else job.cwd or cwd)
    handles: list[int] = [2, progress, *asking, 1024]
    for start, other in pairwise(sorted(handles)):
        os.closerange(start + 1, other)
    keep_stacks(folder)
    torch.set_num_threads(job.threads)
    if job.ranks > 1:
        return launch(folder, job, progress, asking)
    return run_alone(folder, job, progress, Asking(*asking * 2) if asking else None)


def run_alone(folder: Path, job: Job, progress: int, draw: Asking | None) -> int:
    """Run the script of a job with one rank. Returns the exit code."""
    try:
        run_script(folder, job, progress, rank=0, draw=draw)
    except (OSError, UserError) as error:  # its results cannot be written: the supervisor checks for a full disk
        print(f"The results could not be kept: {error}", file=sys.stderr)
        return 1
    return 0


def set_apart(folder: Path, *work: str) -> None:
    """Put overlays over all writable folders, and write the result to the job's folder."""
    (folder / writes.LAYERS).mkdir()
    places = folder, folder / writes.LAYERS, writes.second_place(folder)
    other = overlay.foreign(*work)
    why = overlay.FOREIGN.format(other) if other else overlay.tried(*places)
    summary = {"apart": False, "why": why} if why else {"apart": True, **overlay.cover(*places)}
    (folder / writes.SAID).write_text(json.dumps(summary))


def fresh_seeds() -> None:
    """Seed the generators at random, as in a new process. With the parent's state, a missing seed would never show."""
    torch.default_generator.manual_seed(int.from_bytes(os.urandom(7), "big"))
    np.random.seed(int.from_bytes(os.urandom(4), "big"))


def keep_stacks(folder: Path) -> None:
    """Write the Python stacks to `stack-PID.txt` on SIGUSR1, even while the process hangs inside C code."""

    def register() -> None:
        global _stack_file
        with contextlib.suppress(OSError):
            _stack_file = open(folder / f"stack-{os.getpid()}.txt", "w", encoding="utf-8")
            faulthandler.register(signal.SIGUSR1, file=_stack_file, all_threads=True)

    register()
    os.register_at_fork(after_in_child=register)
