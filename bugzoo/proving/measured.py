"""The numbers of many runs, cached by content and by instrument, so that only changes are measured again.

A result depends on its job (text, limits, ranks, settings) and on the code that runs and watches. An instrument's numbers
also depend on the code of its `measure`; its `judge` is called again each time. A job with missing numbers is run once
and measures all of them.
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
from bugzoo.running import Job, Reading, Run, run_all, run_job
from bugzoo.running.reading import to_json

SHORT = 60
"""Seconds: a job with a lower limit is expected to hang."""
Progress = Callable[[int, int], None]
Result = dict[str, Any]
"""{"outcome", "metrics", "numbers", "error", "seconds"}"""


def measured(
    wanted: Sequence[tuple[Job, Iterable[str]]],
    executor: Executor | None = None,
    progress: Progress | None = None,
    fresh: bool = False,
) -> tuple[list[Result], int, int]:
    """Return (results in order, number of jobs, number of jobs that were run) for jobs with their instruments.

    A repeated job is run once. `fresh` runs everything again.
    """
    jobs: dict[str, Job] = {}
    instruments: dict[str, set[str]] = {}
    for job, names in wanted:
        jobs.setdefault(_key(job), job)
        instruments.setdefault(_key(job), set()).update(names)
    results = {key: None if fresh else kept.read(key) for key in jobs}
    missing = {key: _missing(results[key], names) for key, names in instruments.items()}
    todo = sorted((key for key in jobs if missing[key] is not None), key=lambda key: jobs[key].limits.seconds)
    done = len(jobs) - len(todo)

    def keep(index: int, result: Result) -> None:  # at once, so that Ctrl-C loses only the current runs
        nonlocal done
        key, trouble = todo[index], result.pop("trouble")
        results[key] = merged = _merged(results[key], result, missing[key] or ())
        if not trouble:  # trouble of this machine is not cached
            kept.write(key, merged)
        done += 1
        if progress:
            progress(done, len(jobs))

    if progress:
        progress(done, len(jobs))
    # a job that hangs until its limit needs no core
    waiting = any(jobs[key].limits.seconds < SHORT for key in todo)
    with_names = [(jobs[key], tuple(sorted(missing[key] or ()))) for key in todo]
    run_all(measure_job, with_names, executor=executor, workers=cores() + waiting, on_done=keep)
    return [_only(results[_key(job)] or {}, names) for job, names in wanted], len(jobs), len(todo)


def missing(wanted: Sequence[tuple[Job, Iterable[str]]], fresh: bool = False) -> int:
    """Return how many runs `measured` would need for these."""
    instruments: dict[str, set[str]] = {}
    for job, names in wanted:
        instruments.setdefault(_key(job), set()).update(names)
    return sum(fresh or _missing(kept.read(key), names) is not None for key, names in instruments.items())


def measure_job(asked: tuple[Job, tuple[str, ...]]) -> Result:
    """Run a job and measure these instruments. A failure of the machinery counts as a crash of the run."""
    job, names = asked
    # one rank cannot restart all ranks, so instruments that re-run the script are measured here
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
    """Return the worker's readings, plus those it could not take: of an ended run, or across all ranks."""
    if run.readings and not run.ranks:
        return run.readings
    outside = measure_all(run, names, max_cost=0, also=again)
    if not run.readings:
        return outside
    silent = {name for name in names if name not in run.readings or not run.readings[name].applies}
    return run.readings | {name: reading for name, reading in outside.items() if name in silent}


def _key(job: Job) -> str:
    return kept.key("run", replace(job, after=None, after_args={}), core(), version("torch"))


def _missing(found: Result | None, names: set[str]) -> set[str] | None:
    """Return the instruments to measure; None if nothing has to be run."""
    if found is None:
        return names
    lacking = {name for name in names if found["code"].get(name) != measuring(name)}
    return lacking or None


def _merged(before: Result | None, now: Result, names: Iterable[str]) -> Result:
    """Return the newer run, plus still valid numbers of other instruments."""
    numbers, codes = dict(before["numbers"]) if before else {}, dict(before["code"]) if before else {}
    codes |= {name: measuring(name) for name in names}
    return {**now, "numbers": numbers | now["numbers"], "code": codes}


def _only(result: Result, names: Iterable[str]) -> Result:
    """Return the result with these instruments only."""
    instruments = set(names)
    return {**result, "numbers": {name: numbers for name, numbers in result["numbers"].items() if name in instruments}}
