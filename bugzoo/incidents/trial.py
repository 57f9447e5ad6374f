"""By runs: that a history is good before its fault and bad from it on, and which of its numbers need several seeds.

Every script of the history is run as `bugzoo verdict` runs it, and must be called good, bad or not to be judged as its place
says. Where the fault comes in it is run on five seeds, before and after.
"""

import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bugzoo.diagnostics.checkup import checkup
from bugzoo.errors import UserError
from bugzoo.incidents.history import SCRIPT, History, with_seed
from bugzoo.running import Job, Limits, run_worker

SEEDS = 5
SECONDS = 120
NIGHTS = 3
"""Every so many commits a night wrote down its numbers."""
STEADY = 1.5
"""Of two healthy runs; a number that varies by so much alarms somebody every week."""
LAST = "last_batch_loss"
Progress = Callable[[int, int], None]


class Unfit(UserError):
    """A history in which the fault cannot be found by its runs, and why."""


@dataclass(frozen=True)
class Trial:
    """What was measured. `said`: good, bad or skip of each commit. `before`, `after`: numbers on each seed. `nights`: (index of
    the commit, its numbers under a seed of that night). `noisy`: numbers that no single run is to be trusted in.
    `telling`: those that the program prints and that tell in any run and at any commit which side of the fault it is."""

    said: tuple[str, ...]
    seeds: tuple[int, ...]
    before: tuple[dict[str, float], ...]
    after: tuple[dict[str, float], ...]
    nights: tuple[tuple[int, dict[str, Any]], ...]
    noisy: tuple[str, ...]
    telling: tuple[str, ...]


def verdict(script: str) -> tuple[str, dict[str, float]]:
    """("good", "bad" or "skip", the numbers of the run), as `bugzoo verdict` decides."""
    with tempfile.TemporaryDirectory(prefix="bugzoo-incident-") as folder:
        file = Path(folder, SCRIPT)
        file.write_text(script, encoding="utf-8")
        try:
            report = checkup(file, seconds=SECONDS, most_reruns=0)
        except UserError:
            return "skip", {}
    return {"nothing": "good", "found": "bad", "unjudged": "skip"}[report.outcome], numbers(report.run)


def numbers(run: Any) -> dict[str, float]:
    """What a night writes down of a run: the program's metrics, and the loss of the last batch."""
    if run is None:
        return {}
    found = {name: float(value) for name, value in run.trace.metrics.items() if isinstance(value, int | float)}
    if len(run.trace.loss):
        found[LAST] = float(run.trace.loss[-1])
    return {name: round(value, 5) for name, value in found.items()}


def tried(history: History, progress: Progress | None = None, told: bool = False) -> Trial:
    """Run all of it. Raises Unfit where a commit is not what its place says, the telling ones first; with `told` also
    where no number that is printed shows the fault."""
    commits, seed = history.commits, history.scenario.seed
    seeds = tuple(seed + n for n in range(SEEDS))
    nights = [n for n in range(0, len(commits), NIGHTS) if n != history.slip]
    scripts = {one.script for one in commits}
    of, done = len(scripts) + 2 * (SEEDS - 1) + len(nights), 0
    seen: dict[str, tuple[str, dict[str, float]]] = {}

    def asked(script: str) -> tuple[str, dict[str, float]]:
        nonlocal done
        if script not in seen:
            if progress:
                progress(done, of)
            seen[script] = verdict(script)
            done += 1
        return seen[script]

    def must(number: int) -> None:
        wanted = "skip" if number == history.slip else "good" if number < history.fault else "bad"
        said, _ = asked(commits[number].script)
        if said != wanted:
            raise Unfit(_why(history, number, wanted, said))

    first = [history.fault, history.fault - 1, history.slip]
    for number in first:
        must(number)
    pairs = []
    for number, wanted in ((history.fault - 1, "good"), (history.fault, "bad")):
        rows = []
        for other in seeds:
            said, found = asked(with_seed(commits[number].script, other))
            if said != wanted:
                raise Unfit(f"{_why(history, number, wanted, said)} That was under seed {other}.")
            rows.append(found)
        pairs.append(rows)
    noisy = tuple(name for name in pairs[0][0] if unsteady(*([row.get(name) for row in rows] for rows in pairs)))
    if not noisy:
        raise Unfit(f"Every number of {history.scenario.program} can be trusted in one run there, and one must not be.")
    telling = tuple(name for name in pairs[0][0] if name != LAST and name not in noisy and apart(pairs, name))
    silent = f"{history.scenario.faults[0]} changes no number that {history.scenario.program} prints enough."
    if told and not telling:
        raise Unfit(silent)
    for number in range(len(commits)):
        must(number)
        pairs[number >= history.fault].append(asked(commits[number].script)[1])
        telling = tuple(name for name in telling if number == history.slip or apart(pairs, name))
        if told and not telling:
            raise Unfit(silent)
    rows = []
    for number in nights:
        if progress:
            progress(done, of)
        rows.append((number, _night(commits[number].script, seed + 100 + number)))
        done += 1
    said = tuple(asked(one.script)[0] for one in commits)
    if progress:
        progress(of, of)
    before, after = (tuple(found[:SEEDS]) for found in pairs)
    return Trial(said, seeds, before, after, tuple(rows), noisy, telling)


def unsteady(before: Sequence[float | None], after: Sequence[float | None]) -> bool:
    """Whether one run of a number may mislead: one from before and one from after stand in either order, or of two healthy
    runs one shows half as much again as the other."""
    one, two = ([x for x in values if x is not None and math.isfinite(x)] for values in (before, after))
    if not one:
        return False
    crossing = bool(two) and not (max(one) < min(two) or max(two) < min(one))
    return crossing or max(map(abs, one)) >= STEADY * min(map(abs, one))


def apart(pairs: Sequence[Sequence[dict[str, float]]], name: str) -> bool:
    """Whether a number tells before from after in any single run; one that is not printed any more does."""
    before, after = ([row[name] for row in rows if math.isfinite(row.get(name, math.nan))] for rows in pairs)
    return bool(before) and (not after or max(before) < min(after) or max(after) < min(before))


def _night(script: str, seed: int) -> dict[str, Any]:
    run = run_worker(Job(with_seed(script, seed), file=SCRIPT, limits=Limits(seconds=SECONDS)))
    return {"seed": seed, "outcome": run.outcome, **numbers(run)}


def _why(history: History, number: int, wanted: str, said: str) -> str:
    case = history.scenario
    name = case.faults[0]
    if number == history.fault and said == "good":
        return (
            f"One run of {case.program} with {name} shows nothing to `bugzoo verdict`, so that no bisection finds it."
        )
    what = {"good": "healthy", "bad": "ill", "skip": "not to be judged"}
    return f"With {name} in {case.program}, commit {number + 1} must be {what[wanted]} and was {what[said]}."
