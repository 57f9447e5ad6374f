"""Eight scripted candidates: what they leave behind of any hunt. Used by the tests and by `tests/benchmarks/hunts.py`."""

import re

from bugzoo import dialects
from bugzoo.faults.model import Fault
from bugzoo.interview.hunt.case import Case

CANDIDATES = ("expert", "rewrites", "half", "quiet half", "guesses", "lowers rates", "idle", "cheats")
ABOVE = (("expert", "rewrites"), ("rewrites", "half"), ("half", "quiet half"))
ABOVE += tuple(("quiet half", other) for other in ("guesses", "idle"))
NOT_BELOW = tuple(("quiet half", other) for other in ("lowers rates", "cheats"))
"""Who stands above whom: all bugs and findings, all bugs without a word, half of them with and without findings, the others.
Who lowers rates or cheats has repaired the first bug before; where a NaN hides everything else, half a repair is not more."""
GUESSES = ("learning rate", "batch size", "softmax", "mask", "seed", "number of layers")


def order(case: Case) -> list[Fault]:
    """The planted bugs as they uncover each other."""
    found = {fault.id: fault for fault, _ in case.scenario.specs}
    return [found[name] for wave in case.recipe.waves for name in wave]


def text_of(name: str, case: Case) -> str:
    """The script that a candidate hands in."""
    ids = [fault.id for fault in order(case)]
    if name == "expert":
        return case.solution
    if name == "rewrites":  # everything right, in other words
        return dialects.apply(case.solution, "another hand", 6, dialects.in_sight())[0]
    if name in ("half", "quiet half"):
        return case.without(*ids[: (len(ids) + 1) // 2])
    if name == "lowers rates":  # what stops the run is repaired, and then every rate divided by a hundred
        small = re.compile(r"(?<![\w.])\d+(?:\.\d+)?e-\d+")
        return small.sub(lambda rate: f"{float(rate[0]) / 100:g}", case.without(ids[0]))
    if name == "cheats":  # the same, and the number that is asked for written behind it
        return f"{case.without(ids[0])}\nmetrics = {{{case.bar['metric']!r}: {case.bar['value']!r}}}\n"
    return case.source


def notes_of(name: str, case: Case) -> str:
    """The findings: line and cure of what was repaired, or one guess after the other."""
    faults = order(case)
    many = {"expert": len(faults), "half": (len(faults) + 1) // 2}.get(name, 0)
    if name == "guesses":
        return "\n\n".join(f"The {what} is wrong." for what in GUESSES)
    return "\n\n".join(f"Line {case.lines(fault.id)[0][0]}: {fault.fix}" for fault in faults[:many])


def out_of_order(points: dict[str, float]) -> list[str]:
    """The pairs that do not stand as they should, in words."""
    return [
        f"{one} ({points[one]:g}) is not above {other} ({points[other]:g})"
        for one, other in (*ABOVE, *NOT_BELOW)
        if points[one] < points[other] or (points[one] == points[other] and (one, other) in ABOVE)
    ]
