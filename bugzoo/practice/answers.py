"""The events of the record as answers: which cause was asked for, was it found, and how sure was somebody of it."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from bugzoo import record
from bugzoo.diagnostics import causes
from bugzoo.practice.times import steady

NOTHING = causes.NOTHING
"""In the place of a family, for answers to what is well: traps, and lines in which nothing was changed."""


@dataclass(frozen=True)
class Answer:
    """One answer. `at` never goes back from one to the next, whatever the clock did."""

    at: float
    """Seconds since 1970."""
    kind: str
    """card, drill, exercise or hunt."""
    fault: str
    """The fault that was asked for, or whose lines were shown without it."""
    family: str
    """Its family; "nothing is wrong" where that was the right answer."""
    right: bool
    named: bool
    """What `sure` is about: was the line, or the cause, the right one? A drill asks for a repair besides."""
    sure: float | None = None
    """How sure somebody was, 0 to 100; None where nobody asked."""
    seconds: float | None = None
    program: str = ""

    @property
    def cause(self) -> str:
        """What is remembered by it; empty where there was nothing to be found."""
        return "" if self.family == NOTHING else self.fault

    @property
    def brier(self) -> float | None:
        """The square of (how sure - 1 where it was named, 0 where not): 0 is best, always saying 50 earns 0.25."""
        return None if self.sure is None else (self.sure / 100 - self.named) ** 2


def answers(now: float | None = None) -> list[Answer]:
    """All answers of the record, the oldest first. Raises UserError for a record that cannot be read."""
    events = record.events()
    times = steady([float(one["at"]) for one in events], time.time() if now is None else now)
    forgotten = {one["key"]: one["number"] for one in events if one["kind"] == "forgotten"}
    found: list[Answer] = []
    for one, at in zip(events, times, strict=True):
        if one["kind"] == "exercise":
            if one["number"] > forgotten.get(one["key"], 0) and one.get("part") in ("repair", "run"):
                found += [_made(one, at, fault, one.get("status") == "passed") for fault in faults_of(one["key"])]
        elif "right" in one and (fault := str(one.get("fault") or one.get("cause") or "")):
            found.append(_made(one, at, fault, bool(one["right"])))
    return found


def _made(event: dict[str, Any], at: float, fault: str, right: bool) -> Answer:
    family = family_of(fault)
    well = family == "traps" or event.get("cause") == NOTHING
    sure, seconds = _number(event.get("sure"), 100), _number(event.get("seconds"))
    program = str(event.get("program", ""))
    named = bool(event.get("named", right))
    return Answer(at, event["kind"], fault, NOTHING if well else family, right, named, sure, seconds, program)


def family_of(fault: str) -> str:
    """`acme:loop/stale_gradients`, a pack's, belongs to the family `loop` like our own."""
    return fault.rpartition(":")[2].split("/")[0]


def _number(value: Any, most: float = float("inf")) -> float | None:
    """A number from 0 to `most`; None for anything else that somebody may have written there."""
    good = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= most
    return float(value) if good else None


@cache
def faults_of(exercise: str) -> tuple[str, ...]:
    """The faults that an exercise is about; none for one that this bugzoo does not know, or in which nothing is wrong."""
    from bugzoo.grading.declared import everything

    return tuple(_asked(everything().get(exercise)))


def _asked(declared: Any) -> Iterator[str]:
    if candidates := getattr(declared, "candidates", None):
        yield from (one.about_fault[0].id for one in candidates if one.ill and one.about_fault)
    elif declared is not None:
        yield from (spec.partition("?")[0] for spec in (declared.fault, *getattr(declared, "beside", ())))
