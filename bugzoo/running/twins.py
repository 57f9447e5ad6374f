"""Two scripts, one after the other in one process, or a saved trace for one, and when they began to differ."""

import json
import os
import random
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bugzoo.errors import UserError
from bugzoo.plain import plain
from bugzoo.running.here import execute
from bugzoo.running.job import Job, Limits
from bugzoo.running.reading import Reading
from bugzoo.running.result import Run
from bugzoo.running.torch_state import preserved
from bugzoo.running.worker import run_worker
from bugzoo.watching import StopRun
from bugzoo.watching.difference import Divergence
from bugzoo.watching.trace import Trace

SEED = 0


def differ(
    here: Path,
    there: Path,
    sources: tuple[str, str],
    argv: tuple[str, ...] = (),
    steps: int | None = None,
    seconds: float = 120,
    tolerance: float = 0.0,
    names: Mapping[str, str] | None = None,
    called: tuple[str, str] | None = None,
) -> dict[str, Any]:
    """`Divergence.to_json()` of two scripts, run in a process of their own from the same random state; of `steps` at most.

    A side that ends in .npz is a saved trace, and not run; its source is "". `names`: folder -> what stands for it in the answer.
    `called`: what the two are in a message, where that is not their path.

    Raises UserError where one of them makes no step, both together take longer than `seconds`, or a trace cannot be read.
    """
    for path in (here, there):
        if saved(path) and not len(Trace.load(path).step):
            raise UserError(f"{path} holds no optimiser step, so that there is nothing to compare.")
    files = [str(path.resolve()) for path in (here, there)]
    settings = {"files": files, "sources": list(sources), "argv": list(argv), "steps": steps, "tolerance": tolerance}
    job = Job(
        "", file="twins.py", limits=Limits(seconds=seconds), watch=False, after=f"{__name__}:compare", after_args=settings
    )  # fmt: skip
    run = run_worker(job)
    if "divergence" not in run.readings:
        why = (run.trace.error.get("after") or run.stdout or run.outcome).strip().splitlines()[-1:]
        raise UserError(
            f"The two runs could not be compared within {seconds:g} s ({run.outcome}: {''.join(why)}). "
            "Type --seconds for more time, or --steps for less of each."
        )
    text = str(run.readings["divergence"].numbers["told"])
    for folder, name in (names or {}).items():
        text = text.replace(json.dumps(folder + os.sep)[1:-1], json.dumps(name)[1:-1])
    told = json.loads(text)
    for path, made in zip(called or (here, there), told["made"], strict=True):
        if not made["steps"]:
            raise UserError(f"{path} made no optimiser step, so that there is nothing to compare: {made['ending']}.")
    return told


def compare(
    run: Run, files: list[str], sources: list[str], argv: list[str], steps: int | None, tolerance: float
) -> Any:
    """In the worker: run both, compare them."""
    runs = [
        Run(Trace.load(file), file=file) if saved(file) else _alone(source, file, tuple(argv), steps)
        for source, file in zip(sources, files, strict=True)
    ]
    told: dict[str, Any] = {}
    if all(len(one.trace.step) for one in runs):
        found = runs[0].trace.differs_from(runs[1].trace, tolerance)
        if steps is not None and any(len(one.trace.step) > steps for one in runs):
            found = _up_to(found, steps)
        told = found.to_json()
    made = [{"file": one.file, "steps": len(one.trace.step), "ending": _ending(one)} for one in runs]
    return {"divergence": Reading({"told": json.dumps(plain(told | {"made": made}))})}


def saved(side: str | Path) -> bool:
    """Is this side a trace on disk, by its name?"""
    return Path(side).suffix == ".npz"


def _up_to(found: Divergence, steps: int) -> Divergence:
    """Where a saved trace goes on: what differs behind `steps` was not asked for."""
    found = replace(found, steps=min(found.steps, steps))
    if found.step is not None and found.step <= steps:
        return found
    return Divergence(None, steps=found.steps, tolerance=found.tolerance, compared=("the numbers noted at each step",))


def _alone(source: str, file: str, argv: tuple[str, ...], steps: int | None) -> Run:
    """A run from a known random state, in its own folder, with modules of its own where they lie beside the script."""
    folder, before = os.path.dirname(file), set(sys.modules)
    with preserved():
        os.chdir(folder)
        torch.manual_seed(SEED)
        np.random.seed(SEED)
        random.seed(SEED)
        run = execute(source, file, argv=argv, on_step=_until(steps), watch_settings={"rewind": True})
    for name in set(sys.modules) - before:
        place = getattr(sys.modules[name], "__file__", None) or ""
        if place.startswith(folder + os.sep):
            del sys.modules[name]
    return run


def _until(steps: int | None) -> Callable[[dict[str, Any]], None] | None:
    def ask(info: dict[str, Any]) -> None:
        if steps is not None and info["step"] >= steps:
            raise StopRun

    return ask if steps is not None else None


def _ending(run: Run) -> str:
    error = run.trace.error
    return run.outcome + (f", {error.get('type')}: {error.get('message', '')[:120]}" if error.get("type") else "")
