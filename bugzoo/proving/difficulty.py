"""How hard a fault is to find, measured: what `level` in its file is held against.

Each of these puts the faults into an order, by what the ledger says; the difficulty is the mean place, from 0 to 1:

- effect: how far broken and healthy lie apart, in standard deviations of the healthy seeds (Cohen's d); a crash is beyond
  any distance,
- seen: how many of the numbers that everybody looks at lie outside the healthy band: the training loss, and loss and
  metric of the validation; all of them where the run ends, hangs, or leaves the finite numbers,
- instruments: how many fire,
- quiet: the share of what everybody tries that silences the evidence, although it repairs nothing; unknown of a crash.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median, pstdev
from typing import Any

from bugzoo import faults as catalogue
from bugzoo.faults.evidence import parse
from bugzoo.faults.model import Fault
from bugzoo.proving import ledger
from bugzoo.proving.pretences import PRETENCES

LOUD = ("crash", "hang", "oom", "non_finite")
"""Symptoms that nobody overlooks: their effect is beyond any distance."""
USUAL = ({"training loss"}, {"loss"}, {"accuracy", "r2"})
"""Checks of the grader on what everybody looks at; a program has one of the metrics."""


@dataclass(frozen=True)
class Difficulty:
    """What was measured of one fault; None where nothing was."""

    fault: str
    level: int
    effect: float
    seen: float | None
    instruments: float
    quiet: float | None
    score: float = math.nan
    """0 is the easiest of all, 1 the hardest."""


def difficulties() -> list[Difficulty]:
    """All faults that are proved somewhere, the easiest first; traps have no effect and are left out."""
    found = [one for fault in catalogue.catalogue().values() if not fault.trap and (one := measured(fault))]
    places = [
        _places([-one.effect for one in found]),
        _places([None if one.seen is None else -one.seen for one in found]),
        _places([-one.instruments for one in found]),
        _places([one.quiet for one in found]),
    ]
    scores = [fmean(known) for row in zip(*places, strict=True) if (known := [x for x in row if x is not None])]
    scored = [replace(one, score=score) for one, score in zip(found, scores, strict=True)]
    return sorted(scored, key=lambda one: (one.score, one.fault))


def measured(fault: Fault) -> Difficulty | None:
    """What the ledger says of one fault; None where it is proved nowhere."""
    entries = ledger.read("faults", fault.id).get("cells", {}).values()
    cells = [cell for cell in entries if not cell["problems"]]
    if not cells:
        return None
    loud = fault.symptom in LOUD
    effect = math.inf if loud else median(_distance(fault, cell) for cell in cells)
    quiet = None if loud else _quiet(fault, cells)
    seen = float(len(USUAL)) if loud else _seen(cells)
    return Difficulty(fault.id, fault.level, effect, seen, fmean(len(cell["fired"]) for cell in cells), quiet)


def _distance(fault: Fault, cell: Mapping[str, Any]) -> float:
    """|mean of broken - mean of healthy| over the deviation of the healthy; inf where a number is not finite."""
    sides = cell["numbers"].get(parse(fault.effect).left, {})
    broken, healthy = (
        [x for x in sides.get(which, ()) if isinstance(x, int | float)] for which in ("broken", "healthy")
    )
    if not broken or len(broken) < len(sides["broken"]) or not healthy:
        return math.inf
    apart = abs(fmean(broken) - fmean(healthy))
    return apart / spread if (spread := pstdev(healthy)) > 0 else math.inf


def _seen(cells: Sequence[Mapping[str, Any]]) -> float | None:
    """How many of the USUAL numbers the grader found outside the healthy band in the program as handed out."""
    failed = [
        set(trial[2:])
        for cell in cells
        for trial in cell.get("graded", {}).get("trials", {}).get("unsolved", {}).values()
    ]
    return fmean(sum(not of.isdisjoint(one) for of in USUAL) for one in failed) if failed else None


def _quiet(fault: Fault, cells: Sequence[Mapping[str, Any]]) -> float | None:
    """Share of the generic pretences after which no instrument of the evidence was among the checks that failed."""
    named = {parse(text).instrument for text in fault.evidence}
    failed = [
        set(trial[2:])
        for cell in cells
        for title, trial in cell.get("graded", {}).get("trials", {}).get("degenerate", {}).items()
        if title in PRETENCES
    ]
    return fmean(not named & one for one in failed) if failed else None


def _places(values: Sequence[float | None]) -> list[float | None]:
    """0 for the lowest to 1 for the highest, equal ones in the middle of theirs."""
    known = sorted(value for value in values if value is not None)
    most = max(len(known) - 1, 1)
    middle = {value: (known.index(value) + len(known) - 1 - known[::-1].index(value)) / 2 / most for value in known}
    return [None if value is None else middle[value] for value in values]


def agreement(found: Sequence[Difficulty]) -> tuple[float, float]:
    """Spearman's rank correlation of `level` and measured difficulty, and its p; nan for fewer than three."""
    from scipy.stats import spearmanr

    if len(found) < 3:
        return math.nan, math.nan
    found_out: Any = spearmanr([one.level for one in found], [one.score for one in found])
    return float(found_out.statistic), float(found_out.pvalue)
