"""The numbers of many runs, kept by content: instrument by instrument, so that only what changed is measured again.

A result belongs to its job (text, limits, ranks, settings) and to the code that runs and watches. The numbers of one
instrument in it belong, besides, to the code that this instrument's `measure` needs; what it makes of them, its `judge`,
is asked again each time. A job for which some numbers are missing is run once and measures all of those.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from importlib.metadata import version
from typing import Any

from bugzoo import kept
from bugzoo.diagnostics import measure_all, reruns
from bugzoo.machine import cores
from bugzoo.proving.code import core, measuring
from bugzoo.running import Job, Run
from bugzoo.running.many import run_job
from bugzoo.running.pool import run_all
from bugzoo.running.reading import Reading, to_json

SHORT = 60
"""Seconds: a job with a lower limit is one that is expected to hang."""
Progress = Callable[[int, int], None]
Result = dict[str, Any]
"""{"outcome", "metrics", "numbers", "error", "seconds"}"""


def measured(
    wanted: Sequence[tuple[Job, Iterable[str]]],
    executor: Executor | None = None,
    progress: Progress | None = None,
    fresh: bool = False,
) -> tuple[list[Result], int, int]:
    """(results in order, how many jobs there were, how many of them had to be run) for jobs with their instruments.

    A job that comes several times is run once. `fresh` runs everything again.
    """
    jobs: dict[str, Job] = {}
    asked: dict[str, set[str]] = {}
    for job, names in wanted:
        jobs.setdefault(_key(job), job)
        asked.setdefault(_key(job), set()).update(names)
    found = {key: None if fresh else kept.read(key) for key in jobs}
    missing = {key: _missing(found[key], names) for key, names in asked.items()}
    todo = sorted((key for key in jobs if missing[key] is not None), key=lambda key: jobs[key].limits.seconds)
    done = len(jobs) - len(todo)

    def keep(index: int, result: Result) -> None:  # at once, so that Ctrl-C loses only what was running
        nonlocal done
        key, trouble = todo[index], result.pop("trouble")
        found[key] = merged = _merged(found[key], result, missing[key] or ())
        if not trouble:  # which is this machine's, and worth nothing the next time
            kept.write(key, merged)
        done += 1
        if progress:
            progress(done, len(jobs))

    if progress:
        progress(done, len(jobs))
    # what waits for its own end needs no core
    waiting = any(jobs[key].limits.seconds < SHORT for key in todo)
    with_names = [(jobs[key], tuple(sorted(missing[key] or ()))) for key in todo]
    run_all(measure_job, with_names, executor=executor, workers=cores() + waiting, on_done=keep)
    return [_only(found[_key(job)] or {}, names) for job, names in wanted], len(jobs), len(todo)


def missing(wanted: Sequence[tuple[Job, Iterable[str]]], fresh: bool = False) -> int:
    """How many runs `measured` would need for these."""
    asked: dict[str, set[str]] = {}
    for job, names in wanted:
        asked.setdefault(_key(job), set()).update(names)
    return sum(fresh or _missing(kept.read(key), names) is not None for key, names in asked.items())


def measure_job(asked: tuple[Job, tuple[str, ...]]) -> Result:
    """Run a job and measure these instruments. What goes wrong with the machinery is a crash of the run."""
    job, names = asked
    # one rank cannot start all ranks once more: what runs the script again is measured out here
    again = tuple(name for name in names if reruns(name)) if job.ranks > 1 else ()
    inside = [name for name in names if name not in again]
    arguments = {"names": inside, "most_reruns": max(map(reruns, names), default=0)}
    run = run_job(replace(job, after="bugzoo.diagnostics:measure_all", after_args=arguments))
    return {
        "outcome": run.outcome,
        "metrics": run.trace.metrics,
        "numbers": to_json(_readings(run, names, again)),
        "error": {name: run.trace.error.get(name) for name in ("type", "message", "file", "line")},
        "seconds": run.seconds,
        "trouble": run.trouble,
    }


def _readings(run: Run, names: tuple[str, ...], again: tuple[str, ...]) -> dict[str, Reading]:
    """What the worker measured, and here what it could not: a run that was ended, or that only all ranks together tell."""
    if run.readings and not run.ranks:
        return run.readings
    outside = measure_all(run, names, max_cost=0, also=again)
    if not run.readings:
        return outside
    silent = {name for name in names if name not in run.readings or not run.readings[name].applies}
    return run.readings | {name: found for name, found in outside.items() if name in silent}


def _key(job: Job) -> str:
    return kept.key("run", replace(job, after=None, after_args={}), core(), version("torch"))


def _missing(found: Result | None, names: set[str]) -> set[str] | None:
    """Instruments to measure; None when nothing has to be run."""
    if found is None:
        return names
    lacking = {name for name in names if found["code"].get(name) != measuring(name)}
    return lacking or None


def _merged(before: Result | None, now: Result, names: Iterable[str]) -> Result:
    """The newer run, with the numbers of other instruments that are still of use."""
    numbers, codes = dict(before["numbers"]) if before else {}, dict(before["code"]) if before else {}
    codes |= {name: measuring(name) for name in names}
    return {**now, "numbers": numbers | now["numbers"], "code": codes}


def _only(result: Result, names: Iterable[str]) -> Result:
    """As if nobody had asked for more."""
    wanted = set(names)
    return {**result, "numbers": {name: found for name, found in result["numbers"].items() if name in wanted}}
