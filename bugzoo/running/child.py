"""The process in which a job's script runs, forked from the warm process by its supervisor."""

import contextlib
import faulthandler
import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bugzoo.errors import UserError
from bugzoo.running import overlay, writes
from bugzoo.running.elastic import launch
from bugzoo.running.here import resolve
from bugzoo.running.isolation import confine, isolate
from bugzoo.running.job import WORK, Job
from bugzoo.running.script import run_script

_stack_file: Any = None
READY = b"ready"
"""What the supervisor reads on the gate when the sandbox stands; anything else is why it does not."""


def enter(folder: Path, cwd: str, path: list[str], job: Job, output: int, progress: int, gate: int) -> int:
    """Become the script's process: own session, own streams, limits. Returns the exit code.

    `gate` leads to the supervisor, who gets the sandbox's folder through it, and is closed before the script starts, so
    that no script can speak on it.
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
    before, sys.path[:] = list(sys.path), path  # what the caller can import, so that it can name it in `after`
    if job.isolated:
        if job.after:
            resolve(job.after)  # imported now, as the sandbox shows only a few rooms of bugzoo
        try:
            place = isolate(folder, job.limits.result_mib)
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
    os.closerange(3, progress)
    os.closerange(progress + 1, 1024)
    keep_stacks(folder)
    torch.set_num_threads(job.threads)
    if job.ranks > 1:
        return launch(folder, job, progress)
    try:
        run_script(folder, job, progress, rank=0)
    except (OSError, UserError) as error:  # its results cannot be written: the supervisor looks how full the disk is
        print(f"The results could not be kept: {error}", file=sys.stderr)
        return 1
    return 0


def set_apart(folder: Path, *work: str) -> None:
    """Lay overlays over what can be written, and note in the job's folder what became of it."""
    (folder / writes.LAYERS).mkdir()
    places = folder, folder / writes.LAYERS, writes.second_place(folder)
    other = overlay.foreign(*work)
    why = overlay.FOREIGN.format(other) if other else overlay.tried(*places)
    said = {"apart": False, "why": why} if why else {"apart": True, **overlay.cover(*places)}
    (folder / writes.SAID).write_text(json.dumps(said))


def fresh_seeds() -> None:
    """Generators as a new process has them: a fork has its parent's state, so that a missing seed would never show."""
    torch.default_generator.manual_seed(int.from_bytes(os.urandom(7), "big"))
    np.random.seed(int.from_bytes(os.urandom(4), "big"))


def keep_stacks(folder: Path) -> None:
    """On SIGUSR1 write the Python stacks to `stack-PID.txt`, also while the process hangs inside C code."""

    def register() -> None:
        global _stack_file
        with contextlib.suppress(OSError):
            _stack_file = open(folder / f"stack-{os.getpid()}.txt", "w", encoding="utf-8")
            faulthandler.register(signal.SIGUSR1, file=_stack_file, all_threads=True)

    register()
    os.register_at_fork(after_in_child=register)
