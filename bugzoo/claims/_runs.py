"""What the claims are tried on: jobs made of our programs and faults, run, looked at, and kept by content."""

import statistics
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version
from typing import Any

from bugzoo import kept
from bugzoo.claims._model import Numbers, Seen
from bugzoo.errors import UserError
from bugzoo.fingerprint import code_of
from bugzoo.plain import plain
from bugzoo.proving.code import core
from bugzoo.running.job import Job, Limits
from bugzoo.running.result import Run
from bugzoo.scenario import Scenario

SEEDS = (0, 1, 2)
SECONDS = 180
"""Limit of one run; the longest takes a tenth of it on two quiet cores."""
Changes = Iterable[tuple[str, str]]
"""(what stands in the text, once; what is to stand there): for a variant that no fault and no setting makes."""


def job(
    program: str,
    *faults: str,
    seed: int = 0,
    size: str = "tiny",
    changes: Changes = (),
    export: str = "",
    **settings: Any,
) -> Job:
    """One run of a program with faults, settings and changes of its text; `export` names a tensor to bring back."""
    source = Scenario(program, faults, settings, seed, size=size).source
    for before, after in changes:
        if source.count(before) != 1:
            raise ValueError(f"{program}: {before!r} stands there {source.count(before)} times, and should once")
        source = source.replace(before, after)
    limits = Limits(seconds=SECONDS)
    return Job(source, file=f"{program}.py", limits=limits, export=(export,) if export else ())


def twins(program: str, *faults: str, name: str = "", seeds: Iterable[int] = SEEDS, **more: Any) -> dict[str, Job]:
    """The program with its faults and without, on the same seeds: "NAME broken 0", "NAME healthy 0" and so on."""
    found = {}
    for seed in seeds:
        found[f"{name or program} broken {seed}"] = job(program, *faults, seed=seed, **more)
        found[f"{name or program} healthy {seed}"] = job(program, seed=seed, **more)
    return found


def of(seen: Seen, kind: str, number: str) -> list[Any]:
    """One number of all runs whose name begins with `kind`, in the order of the seeds."""
    return [found[number] for name, found in seen.items() if name.startswith(f"{kind} ")]


def middle(values: Iterable[float]) -> float:
    """The median."""
    return statistics.median(values)


def ended(run: Run) -> Numbers:
    """How a run ended and what it measured itself: {"outcome", "accuracy", "loss", ...}."""
    return {"outcome": run.outcome, **run.trace.metrics}


def look_at(
    name: str,
    jobs: Mapping[str, Job],
    look: Callable[[Run], Numbers],
    *,
    timed: bool = False,
    fresh: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[dict[str, Numbers], int]:
    """({name: numbers}, how many runs were made now) of every job of a claim. Each is kept at once: Ctrl-C loses what ran.

    Raises UserError where the machine failed and not the script.
    """
    by = code_of(f"bugzoo.claims.{name}:look")
    keys = {label: kept.key("claim", one, core(), by, version("torch")) for label, one in jobs.items()}
    seen = {label: None if fresh or timed else kept.read(key) for label, key in keys.items()}
    todo = [label for label, found in seen.items() if found is None]

    def tell(done: int) -> None:
        if progress:
            progress(len(jobs) - len(todo) + done, len(jobs))

    tell(0)
    if todo:
        from bugzoo.running.many import run_job
        from bugzoo.running.pool import run_all

        done = 0

        def keep(index: int, run: Run) -> None:
            nonlocal done
            if run.trouble:
                raise UserError(f"{name}: the run {todo[index]!r} could not be made: {run.trouble}")
            seen[todo[index]] = found = plain(look(run), finite=False)
            kept.write(keys[todo[index]], found)
            done += 1
            tell(done)

        run_all(run_job, [jobs[label] for label in todo], workers=1 if timed else None, on_done=keep)
    return {label: found for label, found in seen.items() if found is not None}, len(todo)
