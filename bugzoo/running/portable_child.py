"""The process of one run in portable mode: it imports what a run needs, waits for its job on stdin, and runs it."""

import contextlib
import faulthandler
import importlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bugzoo.running.zygote import prepare

if TYPE_CHECKING:
    from bugzoo.running.draw import Asking

IMPORTED = ("torch", "torch._dynamo", "bugzoo.watching", "bugzoo.rerun.explain", "bugzoo.running.child")
"""What most runs need. A script imports the rest itself.

`torch._dynamo` writes a temporary file and makes a folder when it is imported. A script's first optimizer would import it.
Then the script would seem to write files, and no part of it would run again.
"""
_kept: list[Any] = []


def main() -> int:
    """Read one job from stdin and run it; return the exit code. End quietly where the caller is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # until the script begins
    for name in IMPORTED:
        importlib.import_module(name)
    line = sys.stdin.readline()
    if not line:
        return 0
    request = json.loads(line)
    return enter(Path(request["folder"]), request["cwd"], request["path"])


def enter(folder: Path, cwd: str, path: list[str]) -> int:
    """Become the script's process: own streams, own seeds, the caller's paths."""
    import torch

    from bugzoo.running.child import fresh_seeds, run_alone
    from bugzoo.running.elastic import launch
    from bugzoo.running.job import WORK, Job

    job = Job.load(folder)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.environ.update(job.env)
    sys.dont_write_bytecode = True
    sys.path[:] = path
    if job.after:
        prepare(job.after)
    fresh_seeds()
    os.chdir(folder / WORK if job.bring_mib else job.cwd or cwd)
    keep_stack(folder)
    torch.set_num_threads(job.threads)
    progress = open_progress(folder)
    os.write(progress, b'{"begun": true}\n')
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if job.ranks > 1:
        return launch(folder, job, progress, [])
    return run_alone(folder, job, progress, open_draw(folder, 0))


def open_progress(folder: Path) -> int:
    """The pipe to the caller, through which steps are reported."""
    return os.open(folder / "progress", os.O_WRONLY)


def open_draw(folder: Path, rank: int) -> "Asking | None":
    """The pipes through which a rank asks which steps are kept; None where none is kept."""
    from bugzoo.running.draw import PIPES, Asking

    questions, answers = (folder / name.format(rank) for name in PIPES)
    if not questions.exists():
        return None
    return Asking(os.open(questions, os.O_WRONLY), os.open(answers, os.O_RDONLY))


def keep_stack(folder: Path) -> None:
    """On SIGUSR1 write the Python stacks to `stack-PID.txt`, also while the process hangs inside C code."""
    with contextlib.suppress(OSError):
        _kept.append(open(folder / f"stack-{os.getpid()}.txt", "w", encoding="utf-8"))
        faulthandler.register(signal.SIGUSR1, file=_kept[-1], all_threads=True)


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # nothing to tidy up, and some libraries complain on the way out
