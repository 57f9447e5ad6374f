"""Start several ranks of one script with torch's own elastic launcher. Each rank is watched."""

import logging
import os
import sys
import tempfile
import uuid
from pathlib import Path

import torch

from bugzoo.machine import portable
from bugzoo.running.draw import Asking
from bugzoo.running.job import Job
from bugzoo.running.script import run_script


def launch(folder: Path, job: Job, progress: int, asking: list[int]) -> int:
    """Start `job.ranks` ranks on this machine with a free port and wait for them. Exit code 1 when a rank failed."""
    from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    # The launcher's folders and error files go into the job's folder, so that they are deleted with it.
    scratch = folder / "elastic"
    scratch.mkdir(exist_ok=True)
    tempfile.tempdir = os.environ["TMPDIR"] = str(scratch)
    logging.disable(logging.CRITICAL)  # the launcher's own report of a failed rank; the ranks' outcomes say it better
    # the launcher asks whether there is a GPU; without this, torch initializes CUDA, and no forked rank can use it
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo" if sys.platform == "linux" else "lo0")
    config = LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=job.ranks,
        run_id=uuid.uuid4().hex,
        rdzv_backend="c10d",
        rdzv_endpoint="localhost:0",
        max_restarts=0,
        monitor_interval=0.1,
        start_method="spawn" if portable() else "fork",  # forked, torch stays imported
        logs_specs=DefaultLogsSpecs(log_dir=str(scratch)),
    )
    try:
        elastic_launch(config, run_rank)(str(folder), progress, asking)
    except ChildFailedError as error:
        for rank, failure in error.failures.items():
            (folder / f"exit-{rank}").write_text(str(failure.exitcode))  # for a rank that left no result of its own
        return 1
    return 0


def run_rank(folder: str, progress: int, asking: list[int]) -> None:
    """Run one rank. The launcher has set RANK, WORLD_SIZE and the rendezvous in the environment."""
    logging.disable(logging.NOTSET)
    rank = int(os.environ["RANK"])
    place = Path(folder)
    job = Job.load(place)
    for other, end in enumerate(asking):
        if other != rank:
            os.close(end)
    draw = Asking(asking[rank], asking[rank]) if asking else None
    if portable():  # a fresh process inherits no pipe
        from bugzoo.running.portable_child import keep_stack, open_draw, open_progress

        progress, draw = open_progress(place), open_draw(place, rank)
        keep_stack(place)
    torch.set_num_threads(job.threads)
    run = run_script(place, job, progress, rank, draw)
    if run.outcome in ("crashed", "out_of_memory"):
        raise RuntimeError(run.trace.error.get("message", run.outcome))  # the launcher then stops the other ranks
