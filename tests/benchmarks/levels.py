"""Does `level` in the fault files agree with measured difficulty? `python -m tests.benchmarks.levels` prints the order.

It reads the ledger and runs nothing. Each of these ranks the faults. The difficulty is the mean rank, from 0 to 1:

- effect: the distance of broken and healthy, in standard deviations of the healthy seeds (Cohen's d); a crash is
  infinitely far,
- seen: how many of the usual numbers are outside the healthy band: training loss, validation loss and validation
  metric; all of them if the run ends, hangs or becomes non-finite,
- instruments: how many fire,
- quiet: the share of generic fixes that silence the evidence but repair nothing; unknown for a crash.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median, pstdev
from typing import Any

from bugzoo import faults as catalogue
from bugzoo.faults.evidence import parse
from bugzoo.faults.model import Fault
from bugzoo.grading.trials.wrong_fixes import PRETENCES
from bugzoo.proving import ledger

LOUD = ("crash", "hang", "oom", "non_finite")
"""Symptoms that cannot be overlooked: their effect is infinite."""
USUAL = ({"training loss"}, {"loss"}, {"accuracy", "r2"})
"""The grader's checks of the usual numbers; a program has one of the metrics."""


@dataclass(frozen=True)
class Difficulty:
    """The measurements of one fault; None where nothing was measured."""

    fault: str
    level: int
    effect: float
    seen: float | None
    instruments: float
    quiet: float | None
    score: float = math.nan
    """0 is the easiest of all, 1 the hardest."""


def difficulties() -> list[Difficulty]:
    """Return all faults that are proved somewhere, easiest first; traps have no effect and are left out."""
    measurements = [
        difficulty for fault in catalogue.catalogue().values() if not fault.trap and (difficulty := measured(fault))
    ]
    places = [
        _places([-difficulty.effect for difficulty in measurements]),
        _places([None if difficulty.seen is None else -difficulty.seen for difficulty in measurements]),
        _places([-difficulty.instruments for difficulty in measurements]),
        _places([difficulty.quiet for difficulty in measurements]),
    ]
    scores = [fmean(ranks) for row in zip(*places, strict=True) if (ranks := [x for x in row if x is not None])]
    scored = [replace(difficulty, score=score) for difficulty, score in zip(measurements, scores, strict=True)]
    return sorted(scored, key=lambda one: (one.score, one.fault))


def measured(fault: Fault) -> Difficulty | None:
    """Return the ledger's measurements of one fault; None if it is not proved."""
    entries = ledger.read("faults", fault.id).get("cells", {}).values()
    cells = [cell for cell in entries if not cell["problems"]]
    if not cells:
        return None
    loud = fault.symptom in LOUD
    effect = math.inf if loud else median(_distance(fault, cell) for cell in cells)
    quiet = None if loud else _quiet(fault, cells)
    visible = float(len(USUAL)) if loud else _seen(cells)
    return Difficulty(fault.id, fault.level, effect, visible, fmean(len(cell["fired"]) for cell in cells), quiet)


def _distance(fault: Fault, cell: Mapping[str, Any]) -> float:
    """Return |mean broken - mean healthy| over the standard deviation of healthy; inf if a number is not finite."""
    sides = cell["numbers"].get(parse(fault.effect).left, {})
    broken, healthy = (
        [x for x in sides.get(which, ()) if isinstance(x, int | float)] for which in ("broken", "healthy")
    )
    if not broken or len(broken) < len(sides["broken"]) or not healthy:
        return math.inf
    distance = abs(fmean(broken) - fmean(healthy))
    return distance / spread if (spread := pstdev(healthy)) > 0 else math.inf


def _seen(cells: Sequence[Mapping[str, Any]]) -> float | None:
    """Return how many of the USUAL numbers are outside the healthy band in the program as handed out."""
    failed = [
        set(trial[2:])
        for cell in cells
        for trial in cell.get("graded", {}).get("trials", {}).get("unsolved", {}).values()
    ]
    return fmean(sum(not of.isdisjoint(checks) for of in USUAL) for checks in failed) if failed else None


def _quiet(fault: Fault, cells: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the share of generic pretences after which no instrument of the evidence failed."""
    named = {parse(text).instrument for text in fault.evidence}
    failed = [
        set(trial[2:])
        for cell in cells
        for title, trial in cell.get("graded", {}).get("trials", {}).get("degenerate", {}).items()
        if title in PRETENCES
    ]
    return fmean(not named & checks for checks in failed) if failed else None


def _places(values: Sequence[float | None]) -> list[float | None]:
    """Return ranks from 0 (lowest) to 1 (highest); ties get their mean rank."""
    ordered = sorted(value for value in values if value is not None)
    most = max(len(ordered) - 1, 1)
    middle = {
        value: (ordered.index(value) + len(ordered) - 1 - ordered[::-1].index(value)) / 2 / most for value in ordered
    }
    return [None if value is None else middle[value] for value in values]


def agreement(found: Sequence[Difficulty]) -> tuple[float, float]:
    """Return Spearman's rank correlation of `level` and measured difficulty, and its p; nan for fewer than three."""
    from scipy.stats import spearmanr

    if len(found) < 3:
        return math.nan, math.nan
    found_out: Any = spearmanr([difficulty.level for difficulty in found], [difficulty.score for difficulty in found])
    return float(found_out.statistic), float(found_out.pvalue)


def main() -> None:
    rows = difficulties()
    print(f"{'fault':44} level  difficulty  effect (sd)  seen  instruments  silenced by")
    for row in rows:
        outside = "-" if row.seen is None else f"{row.seen:.1f}"
        quiet = "-" if row.quiet is None else f"{row.quiet:.0%}"
        print(
            f"{row.fault:44} {row.level:5}  {row.score:10.2f}  {row.effect:11.3g}  {outside:>4}  {row.instruments:11.1f}  "
            f"{quiet:>11}"
        )
    rho, p = agreement(rows)
    print(f"{len(rows)} faults; Spearman's rank correlation of level and difficulty: {rho:.2f} (p = {p:.2g})")


if __name__ == "__main__":
    main()
