"""The picture on a fault's page: its run over its healthy twin, for one of the seeds that proved it."""

from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bugzoo import kept
from bugzoo.faults.model import Fault
from bugzoo.proving.code import core
from bugzoo.scenario import Scenario, plainest

Progress = Callable[[int, int], None]


def draw(faults: Sequence[Fault], folder: Path, progress: Progress | None = None) -> dict[str, Path]:
    """Run what was not run before on this machine and write a picture for each fault; return fault -> file.

    A fault that needs a missing device, such as CUDA, gets no picture.
    """
    from bugzoo.plots.comparison import picture
    from bugzoo.running import run_all, run_job

    chosen = [fault for fault in faults if not fault.needs.cuda]
    pairs = [_jobs(fault) for fault in chosen]
    jobs = {_key(job): job for pair in pairs for job in pair}
    results = {key: kept.read(key) for key in jobs}
    todo = [key for key, stored in results.items() if stored is None]

    if progress and todo:
        progress(0, len(todo))
    done = 0

    def keep(index: int, run: Any) -> None:  # at once, so that Ctrl-C loses only the current runs
        nonlocal done
        results[todo[index]] = entry = _known(run)
        if not run.trouble:
            kept.write(todo[index], entry)
        done += 1
        if progress:
            progress(done, len(todo))

    run_all(run_job, [jobs[key] for key in todo], on_done=keep)
    files = {}
    for fault, (broken, healthy) in zip(chosen, pairs, strict=True):
        faulty, twin = results[_key(broken)] or {}, results[_key(healthy)] or {}
        file = folder / f"{fault.id}.svg"
        file.parent.mkdir(parents=True, exist_ok=True)
        numbers = {"broken": _numbers(faulty), "healthy": _numbers(twin), "first_non_finite": faulty.get("first")}
        picture(numbers).savefig(file, format="svg", transparent=True, metadata={"Date": None})
        files[fault.id] = file
    return files


def _jobs(fault: Fault) -> tuple[Any, Any]:
    scenario = Scenario(plainest(fault), (fault.id,))
    job = scenario.job()
    return job, scenario.healthy().job(limits=job.limits)


def _known(run: Any) -> dict[str, Any]:
    """Return what is kept of a run: its curves, and the first non-finite number."""
    first = run.trace.first_non_finite()
    return {
        "losses": [float(value) for value in run.trace.loss],
        "grad_norms": [float(value) for value in run.trace.grad_norm],
        "first": {"step": first.step} | {name: first.data.get(name) for name in ("module", "op")} if first else None,
    }


def _key(job: Any) -> str:
    return kept.key("curve", job, core(), version("torch"))


def _numbers(known: dict[str, Any]) -> dict[str, list[float]]:
    """Return the kept curves, with nan for each non-finite number."""
    return {
        name: [float("nan") if value is None or isinstance(value, str) else value for value in known.get(name, [])]
        for name in ("losses", "grad_norms")
    }
