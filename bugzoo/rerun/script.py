"""Re-run the whole script, each time in a new process that starts in the folder as the first run found it."""

from dataclasses import replace

from bugzoo.errors import NotApplicable, UserError
from bugzoo.rerun import experiments
from bugzoo.rerun.permit import ask
from bugzoo.running import Job, Limits, Run, run_many, run_worker, stopped_and_resumed

LEAST, UNKNOWN = 60.0, 120.0
"""Time limit of a re-run in seconds: at least LEAST, and UNKNOWN if the first run's duration is unknown."""
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
    """Return a job that re-runs the script of `run`: same ranks, threads and name, with four times its seconds.

    Its writes go to an overlay if the kernel allows it. It may open no connection and start no program. Raises
    NotApplicable if nothing may be re-run, or if the source is unknown. `why` tells what the source is needed for.
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
    """Run the same script again."""
    return (run_worker(job),)


def interrupted(job: Job) -> tuple[Run, ...]:
    """Return the run that stops halfway and the resumed run. Only the first one if that did not finish.

    Raises NotApplicable for a script that cannot be stopped halfway.
    """
    try:
        return stopped_and_resumed(job)
    except UserError as why:
        raise NotApplicable(str(why)) from None


def experimented(job: Job) -> tuple[Run, ...]:
    """Return a run of each changed copy, in the order of `experiments.NAMES`. Raises NotApplicable if that fails."""
    return tuple(run_worker(replace(job, source=experiments.changed(job.source, name))) for name in experiments.NAMES)


def fresh(job: Job) -> tuple[Run, ...]:
    """Return two runs with different hash seeds, so that sets have another order. `stdout` holds each one's output, and
    a sum of the weights of each model.

    A worker is a fork and has its parent's hash seed. So each starts a new Python and imports torch, which takes most of
    the time. Raises NotApplicable for several ranks.
    """
    if job.ranks > 1:
        raise NotApplicable("the script runs in several processes at once")
    limits = replace(job.limits, seconds=4 * job.limits.seconds + 120)
    texts = [_ANEW.format(text=job.source + _TAIL, seed=seed) for seed in HASH_SEEDS]
    jobs = [replace(job, source=text, limits=limits, watch=False, closed=False) for text in texts]
    return tuple(run_many(jobs, workers=2))
