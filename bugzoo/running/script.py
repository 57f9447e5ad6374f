"""Run a job's script under watch in its own process, and save the results."""

import atexit
import contextlib
import json
import os
import resource
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bugzoo.files import write_atomic
from bugzoo.machine import portable
from bugzoo.plain import plain
from bugzoo.running import processes, writes
from bugzoo.running.draw import Asking
from bugzoo.running.here import execute, resolve
from bugzoo.running.job import Job
from bugzoo.running.keeping import Keeper, flush_open
from bugzoo.running.outward import Outward
from bugzoo.running.reading import checked, to_json
from bugzoo.running.result import Run

SLACK = 64 * 2**20
"""Bytes needed to handle an allocation failure and to save the trace."""


def run_script(folder: Path, job: Job, progress: int, rank: int, draw: Asking | None = None) -> Run:
    """Run the script under watch and save trace, numbers and arrays in `folder`, as rank `rank`.

    `draw` says after each step whether it is kept whole.
    """
    (folder / f"rank-{rank:03d}.pid").write_text(str(os.getpid()))
    hard = limit_memory(job)
    if job.cuda_fraction is not None and torch.cuda.is_available():
        torch.cuda.set_per_process_memory_fraction(job.cuda_fraction)
    after = None
    with contextlib.suppress(Exception):  # looked up before the script runs, because the script could replace it
        after = resolve(job.after) if job.after else None
    outward, keeper = None, None
    if job.overlay:
        atexit._clear()  # a fork has its parent's handlers; from now on only the script's count
        outward = Outward(folder, job.ranks == 1, os.getcwd(), os.path.dirname(job.file))
        outward.closed = "this is a further run of the script" if job.closed else ""
    run = execute(
        job.source,
        job.file,
        argv=job.argv,
        on_step=reporter(progress, rank) if job.watch else None,
        watch=job.watch,
        watch_settings=job.watch_settings | ({"draw": draw} if draw else {}),
        explain=not job.overlay,  # this re-runs a step; with an overlay, after connections are closed (below)
    )
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, hard)
    for stop in (signal.SIGINT, signal.SIGTERM):  # the launcher sends SIGTERM to the other ranks after one has failed
        signal.signal(stop, signal.SIG_IGN)  # the rest is short and must not be interrupted
    if outward is not None:
        close_up(run, outward, folder, job)
        if job.keep and rank == 0 and writes.apart(folder):
            keeper = Keeper(folder, writes.second_place(folder))  # before anything is repeated
        with contextlib.suppress(Exception):  # a failed explanation must not lose the run
            run.trace.explain()
    if job.after:
        try:
            run.readings = checked((after or resolve(job.after))(run, **job.after_args))
        except Exception:
            run.trace.error["after"] = traceback.format_exc()
    try:
        if run.outcome != "out_of_memory":  # arrays that did not fit in memory may not fit into the folder
            run.arrays = exported(run.namespace, job)
            if run.trace.live is not None and run.trace.live.steps is not None:
                run.arrays |= run.trace.live.steps.arrays()
            run.arrays |= predicted(run.namespace, job)  # weights are kept even if the model cannot be called
    except Exception:
        run.trace.error["export"] = traceback.format_exc()
    save(run, folder, rank)
    if outward is not None:
        leave(keeper)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    return run


def close_up(run: Run, outward: Outward, folder: Path, job: Job) -> None:
    """Close connections. If no part of the script may run again, `run.trace.live.no_rerun` gets the reason."""
    effects = outward.found()
    outward.close_up()
    live = run.trace.live
    if live is None:
        return
    live.guarded = True
    if not job.rerun:
        live.no_rerun = "nothing is run again, as --no-rerun asks"
    elif effects and not writes.apart(folder):
        kind = next(kind for kind in ("connected", "started", "wrote") if kind in effects)
        did = "connected to" if kind == "connected" else kind
        live.no_rerun = f"it would run parts of the script again, which {did} {effects[kind]}"


def leave(keeper: Keeper | None) -> None:
    """Run the script's exit handlers and wait for its threads, as the interpreter does at exit."""
    if keeper is not None:
        keeper.put_back()
    with contextlib.suppress(BaseException):
        threading._shutdown()  # pyright: ignore
    atexit._run_exitfuncs()
    for _ in flush_open():  # flush files that the script left open
        pass
    if keeper is not None:
        keeper.changed()


def limit_memory(job: Job) -> tuple[int, int]:
    """Set the limit on private memory (data and anonymous mappings) and return the previous limit.

    A larger allocation fails inside the script, with the allocator's own message. CUDA reserves terabytes of address
    space, so there only the supervisor checks.
    """
    before = resource.getrlimit(resource.RLIMIT_DATA)
    if portable():  # the caller looks at it from outside
        return before
    if job.limits.memory_mib and job.cuda_fraction is None:
        now = processes.field(os.getpid(), "status", "VmData")
        most = now + job.limits.memory_mib * 2**20
        resource.setrlimit(resource.RLIMIT_DATA, (most, most + SLACK if job.isolated else before[1]))
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    return (hard, hard) if job.isolated else before


def reporter(progress: int, rank: int) -> Callable[[dict[str, Any]], None]:
    """Return an `on_step` that writes one JSON line per step to the supervisor. A line has less than 4096 bytes: atomic."""
    write = json.dumps  # the script may put another one in its place

    def report(info: dict[str, Any]) -> None:
        numbers = {name: info.get(name) for name in ("step", "loss", "grad_norm", "seconds")}
        with contextlib.suppress(OSError):
            os.write(progress, write(numbers | {"rank": rank}, default=float).encode() + b"\n")

    return report


def exported(namespace: dict[str, Any], job: Job) -> dict[str, np.ndarray]:
    """Return the values named in `export`, as numpy arrays on the CPU."""
    arrays: dict[str, np.ndarray] = {}
    for name in job.export:
        value = namespace[name]
        if isinstance(value, torch.nn.Module):
            value = value.state_dict()
        if isinstance(value, dict):
            arrays |= {f"{name}.{key}": _array(part) for key, part in value.items() if hasattr(part, "shape")}
        else:
            arrays[name] = _array(value)
    return arrays


def predicted(namespace: dict[str, Any], job: Job) -> dict[str, np.ndarray]:
    """Return the model's outputs for `predict`, under "predictions". Inputs are cast to the model's own dtype."""
    if not job.predict:
        return {}
    model = namespace["model"]
    model.eval()
    first = next(model.parameters(), torch.empty(0))
    inputs = (torch.as_tensor(value).to(first.device) for value in job.predict)
    with torch.no_grad():
        answers = model(*(value.to(first.dtype) if value.is_floating_point() else value for value in inputs))
    return {"predictions": _array(answers)}


def _array(value: Any) -> np.ndarray:
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu()
        value = (value.float() if value.dtype in (torch.bfloat16, torch.float16) else value).numpy()
    array = np.asarray(value)
    if array.dtype == object:
        raise TypeError(f"{type(value).__name__} holds Python objects; only numbers come back")
    return array


def save(run: Run, folder: Path, rank: int) -> None:
    """Write trace-RANK.npz, arrays-RANK.npz and, last, result-RANK.json."""
    run.trace.save(folder / f"trace-{rank}.npz")
    if run.arrays:
        np.savez(folder / f"arrays-{rank}.npz", **run.arrays)
    result = {"seconds": run.seconds, "numbers": to_json(run.readings)}
    write_atomic(folder / f"result-{rank}.json", json.dumps(plain(result, finite=False)))
