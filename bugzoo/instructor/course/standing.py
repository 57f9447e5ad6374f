"""The points that count: the grader's, after the policy, after what an instructor gave by hand. Nothing is graded again."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from bugzoo.instructor.course import clock, overrides, policy
from bugzoo.instructor.course.overrides import Override, Overrides
from bugzoo.instructor.course.policy import DAY, Policy
from bugzoo.instructor.records import ABSENT, TRY, Record, valid

BY_HAND = "given by hand"
"""The state of somebody of whom nothing was found, and to whom points were given all the same."""


@dataclass(frozen=True)
class Rules:
    """What holds besides the grader's own word."""

    policy: Policy = field(default_factory=Policy)
    overrides: Overrides = field(default_factory=Overrides)

    def check(self, students: Collection[str]) -> None:
        """Raises UserError where one of the files names somebody who is not in the class."""
        self.policy.check(students)
        self.overrides.check(students)

    def beside(self, results: Path) -> "Rules":
        """With the overrides that lie in the folder of the results, where no other file was named. Raises UserError."""
        found = None if self.overrides.path else overrides.find(results)
        return replace(self, overrides=overrides.read(found)) if found else self

    @property
    def files(self) -> list[str]:
        """Those that hold."""
        return [str(path) for path in (self.policy.path, self.overrides.path) if path]


def read(policy_file: Path | None = None, overrides_file: Path | None = None) -> Rules:
    """The rules of the files that are named. Raises UserError."""
    given = overrides.read(overrides_file) if overrides_file else Overrides()
    return Rules(policy.read(policy_file) if policy_file else Policy(), given)


def applied(records: Sequence[Record], rules: Rules) -> list[Record]:
    """The same records with the points that count. `raw` is what the grader gave; `changes` says what was done to it."""
    return [_one(record, rules) for record in records]


def _one(record: Record, rules: Rules) -> Record:
    made = replace(record, raw=record.points, penalty=0.0, changes=[])
    due = rules.policy.due_of(record.student)
    made.due = clock.said(due) if due else ""
    own = rules.overrides.get(record.student)
    if own and own.points is None:
        _parts(made, own)
    by_parts = bool(own and own.points is None)
    if not (rules.policy.attempts and not by_parts and _best_try(made, rules.policy)):
        if made.points is not None and made.state not in (*ABSENT, BY_HAND):
            _late(made, rules.policy)
    if own and own.points is not None:
        before = "no score" if made.points is None else f"{made.points:g}"
        made.points = own.points
        made.changes.append(f"{own.points:g} points were given by hand instead of {before}: {own.reason}")
        _found(made)
    return made


def _found(record: Record) -> None:
    if record.state in ABSENT:
        record.state = BY_HAND


def _parts(record: Record, own: Override) -> None:
    """What the grader gave for repair or diagnosis is replaced; a part of which it said nothing counts as 0."""
    total = 0.0
    for name in ("repair", "diagnosis"):
        part: dict[str, Any] | None = getattr(record, name)
        given = getattr(own, name)
        if given is not None:
            before = f"{part['points']:g}" if part else "nothing"
            record.changes.append(
                f"{given:g} points for the {name} were given by hand instead of {before}: {own.reason}"
            )
            part = {"status": BY_HAND, "checks": [], "message": "", "max_points": given} | (part or {})
            part["points"] = given
            setattr(record, name, part)
        total += float(part["points"]) if part else 0.0
    record.points = round(total, 4)
    _found(record)


def _late(record: Record, rules: Policy) -> None:
    """Take off what late days cost, and say it."""
    points, record.penalty, said = _after(record.points or 0.0, record.timestamp, record.clock, record.student, rules)
    record.points = points if record.points is not None else None
    record.changes += said


def _after(points: float, timestamp: str, clocked: str, student: str, rules: Policy) -> tuple[float, float, list[str]]:
    """(points that are left, what was taken off, sentences) for the time of a hand-in. An unknown time costs nothing."""
    due, closes = rules.due_of(student), rules.closes_of(student)
    if due is None and closes is None:
        return points, 0.0, []
    if clocked == "file" and not rules.file_times:
        said = f"When it was handed in is not known (its file is of {timestamp}); nothing was taken off"
        return points, 0.0, [said]
    when = clock.read(timestamp, rules.zone or clock.UTC)
    if when is None:
        return points, 0.0, ["When it was handed in is not known; nothing was taken off"]
    if closes and _same(when) > _same(closes):
        said = f"Handed in {clock.said(when)}, after it closed, {clock.said(closes)}: {points:g} points were taken off"
        return 0.0, points, [said]
    if due is None or _same(when) <= _same(due):
        return points, 0.0, []
    days = max(1, math.ceil((_wall(when, rules) - _wall(due, rules)) / DAY))
    paid = max(0, days - rules.late_days)
    share = min(1.0, paid * rules.late_penalty)
    penalty = round(points * share, 4)
    free = f", of which {min(days, rules.late_days)} free" if rules.late_days else ""
    cost = f"{penalty:g} points ({share:.0%}) were taken off" if share else "nothing was taken off"
    plural = "s" if days > 1 else ""
    said = f"Handed in {clock.said(when)}, {days} late day{plural} begun after {clock.said(due)}{free}: {cost}"
    return round(points - penalty, 4), penalty, [said]


def _best_try(record: Record, rules: Policy) -> bool:
    """The best of the hand-ins that count, each for what it is worth and by its own time; False where none costs a try."""
    tries, now = list(record.tries), valid(record)
    if now and record.digest not in [one["digest"] for one in tries]:
        tries.append({name: getattr(record, name) for name in TRY})
    best: tuple[float, float, list[str]] | None = None
    for number, (one, worth) in enumerate(zip(tries, rules.attempts, strict=False), 1):
        whole, share = float(one["points"]), worth / rules.attempts[0]
        points, penalty, late = _after(round(whole * share, 4), one["timestamp"], one["clock"], record.student, rules)
        if best is None or points > best[0]:
            said = "" if now else "This hand-in costs no attempt. "
            said += f"Of {len(tries)} that did number {number} counts"
            said += f", with {share:.0%} of its {whole:g} points" if share < 1 else ""
            said += f"; only {len(rules.attempts)} could" if len(tries) > len(rules.attempts) else ""
            best = points, penalty, ([said] if len(tries) > 1 or not now else []) + late
    if best is None:
        return False
    record.points, record.penalty = best[:2]
    record.changes += best[2]
    return True


def _same(when: datetime) -> datetime:
    """Python compares two times of one zone by the clock on the wall, which shows an hour twice when summer ends."""
    return when.astimezone(clock.UTC)


def _wall(when: datetime, rules: Policy) -> datetime:
    """What the course's clock shows: a late day ends at the hour at which it was due."""
    return when.astimezone(rules.zone).replace(tzinfo=None)
