"""The whole script once more, each time in a process of its own that begins in the folder as the first run found it."""

from dataclasses import replace

from bugzoo.errors import NotApplicable, UserError
from bugzoo.rerun import experiments
from bugzoo.rerun.permit import ask
from bugzoo.running import Job, Limits, Run, run_many, run_worker, stopped_and_resumed

LEAST, UNKNOWN = 60.0, 120.0
"""Seconds that a further run may take at least, and where it is not known how long the first one took."""
HASH_SEEDS = ("1", "2")
_TAIL = """
import torch as _torch
for _name, _module in list(globals().items()):
    if isinstance(_module, _torch.nn.Module):
        print(_name, repr(sum(_p.detach().double().abs().sum().item() for _p in _module.parameters())))
"""
_ANEW = """
import os, subprocess, sys, tempfile
with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as failed:  # a pipe, its children would keep open
    found = {{**os.environ, "PYTHONHASHSEED": {seed!r}, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}}
    code = subprocess.run([sys.executable, "-c", {text!r}], env=found, stdout=said, stderr=failed).returncode
    said.seek(0), failed.seek(0)
    print(said.read()[-3000:] if code == 0 else failed.read()[-300:])
    sys.exit(code)
"""


def job_of(run: Run, why: str) -> Job:
    """A job that runs the script of `run` once more: ranks, threads and name as before, four times its seconds.

    What it writes lands in scratch, where the kernel allows it; it may connect to nothing and start nothing. Raises
    NotApplicable where nothing may be run again, or where the text is not known; `why` says what it is needed for.
    """
    ask(run)
    if not run.source:
        raise NotApplicable(f"needs the script's source, {why}")
    return Job(
        run.source,
        file=run.file or "train.py",
        limits=Limits(seconds=max(LEAST, 4 * run.seconds) if run.seconds else UNKNOWN),
        ranks=max(1, len(run.ranks)),
        threads=int(run.trace.environment.get("threads") or 1),
        overlay=True,
        closed=len(run.ranks) < 2,  # ranks talk to one another
    )


def once_more(job: Job) -> tuple[Run, ...]:
    """The same script again."""
    return (run_worker(job),)


def interrupted(job: Job) -> tuple[Run, ...]:
    """The run that is stopped half way and the one that goes on from its files; the first alone where it did not finish.

    Raises NotApplicable for a script that cannot be told to stop.
    """
    try:
        return stopped_and_resumed(job)
    except UserError as why:
        raise NotApplicable(str(why)) from None


def experimented(job: Job) -> tuple[Run, ...]:
    """A run of each changed copy, in the order of `experiments.NAMES`. Raises NotApplicable where none can be made."""
    return tuple(run_worker(replace(job, source=experiments.changed(job.source, name))) for name in experiments.NAMES)


def fresh(job: Job) -> tuple[Run, ...]:
    """Two runs side by side, in interpreters that order sets by other hashes; `stdout` holds what each printed, and a sum of
    the weights of each model.

    A worker is a fork, which has the hashes of its parent: each starts Python anew, and so imports torch, which takes most of
    the time. Raises NotApplicable for several ranks.
    """
    if job.ranks > 1:
        raise NotApplicable("the script runs in several processes at once")
    limits = replace(job.limits, seconds=4 * job.limits.seconds + 120)
    texts = [_ANEW.format(text=job.source + _TAIL, seed=seed) for seed in HASH_SEEDS]
    return tuple(
        run_many([replace(job, source=text, limits=limits, watch=False, closed=False) for text in texts], workers=2)
    )
