"""Item analysis: how hard each item of an assignment was, and whether it sorts the class as the rest does.

Items are the repair and the finding of each fault. An item's *difficulty* is the mean share of it that was earned: 0.9 is
easy. Its *discrimination* is the corrected item-total correlation, Pearson's r between the item and the sum of all other
items, in which the item itself is not counted (S. Henrysson, "Correction of item-total correlations in item analysis",
Psychometrika 28, 1963; J. C. Nunnally and I. H. Bernstein, Psychometric Theory, 3rd edition 1994, chapter 8):

    r = cov(x, t - x) / (s(x) s(t - x))

Below zero those who do well elsewhere do worse here. The upper and the lower third are those with as many points as the
last of the best third has, and as the last of the worst; where the two meet nobody is in either.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from bugzoo.errors import UserError
from bugzoo.faults.evidence import parse
from bugzoo.grading.diagnosis import known_cause
from bugzoo.grading.grade import HALF
from bugzoo.instructor import findings
from bugzoo.instructor.key import Answer
from bugzoo.instructor.records import Record
from bugzoo.instructor.tasks import RepairTask
from bugzoo.scenario import Scenario

LEAST = 10
"""Students; with fewer the numbers say little."""


@dataclass
class Item:
    """One item. `difficulty` and `discrimination` are None where there is nothing to work them out from."""

    name: str
    kind: str
    """"repair" or "finding"."""
    fault: str
    students: int
    difficulty: float | None
    discrimination: float | None
    upper: float | None
    """Mean share in the upper third."""
    lower: float | None


@dataclass
class Drawn:
    """A cause that was named and is not true: by how many, and by how many of the upper and the lower third."""

    cause: str
    count: int
    upper: int
    lower: int


@dataclass
class Analysis:
    """What the class's results tell of the assignment."""

    students: int
    items: list[Item]
    drawn: list[Drawn]
    failed: dict[str, int]
    """Check -> how many hand-ins it stopped."""
    ungraded: int = 0
    notes: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def analyse(records: Sequence[Record], task: RepairTask) -> Analysis:
    """Difficulty and discrimination of every item, and which wrong cause drew whom. The grader's own points count."""
    graded = [one for one in records if one.points is not None and one.repair]
    owners = {one.student: task.owner(one.student, "")[0] for one in graded}
    cases = _Cases(task)
    shares: dict[str, dict[str, float | None]] = {
        one.student: _repairs(one, cases.case(owners[one.student])) | _findings(one, cases.answers(owners[one.student]))
        for one in graded
    }
    names = list(dict.fromkeys(name for own in shares.values() for name in own))
    thirds = _thirds({one.student: float(one.points or 0.0) for one in graded})
    items = [_item(name, shares, _weights(names, task), thirds) for name in sorted(names)]
    failed = Counter(
        check["name"] for one in graded for check in (one.repair or {}).get("checks", []) if check["status"] != "passed"
    )
    found = Analysis(len(graded), items, _drawn(graded, cases, owners, thirds), dict(failed.most_common()))
    found.ungraded = len(records) - len(graded)
    found.notes = _notes(found, graded)
    return found


class _Cases:
    """Faults and answers of each variant, worked out once."""

    def __init__(self, task: RepairTask) -> None:
        self.task = task
        self._cases: dict[str, Scenario] = {}
        self._answers: dict[str, list[Answer]] = {}

    def case(self, owner: str) -> Scenario:
        if owner not in self._cases:
            self._cases[owner] = self.task.case(owner)
        return self._cases[owner]

    def answers(self, owner: str) -> list[Answer]:
        """Everybody's own: in other dialects the same fault lies in other lines."""
        if owner not in self._answers:
            self._answers[owner] = self.task.answers(owner)
        return self._answers[owner]


def _repairs(record: Record, case: Scenario) -> dict[str, float | None]:
    """Fault -> 1.0 where its repair earned points, 0.0 where it did not, None where the record does not tell which one did."""
    repair = record.repair or {}
    ids = [fault.id for fault, _ in case.specs]
    share = float(repair.get("share", 0.0))
    whole = 1.0 if share == 1.0 else 0.0
    if share in (0.0, 1.0) or len(ids) == 1:
        return {f"repair of {name}": whole if share in (0.0, 1.0) else share for name in ids}
    failed = {check["name"] for check in repair.get("checks", []) if check["status"] != "passed"}
    quiet = [fault.id for fault, _ in case.specs if not {parse(text).instrument for text in fault.evidence} & failed]
    number = round(share * len(ids) / HALF)
    told = len(quiet) == number
    return {
        f"repair of {name}": (1.0 if told else None) if name in quiet else 0.0 if told or len(quiet) > number else None
        for name in ids
    }


def _findings(record: Record, answers: Sequence[Answer]) -> dict[str, float | None]:
    """Fault -> share of its finding that was earned; None where the record keeps no forms though something was said."""
    diagnosis = record.diagnosis or {}
    silent = not record.said and float(diagnosis.get("points", 0.0)) > 0
    earned = {} if silent else findings.laid(answers, record.said)
    return {f"finding of {one.fault}": None if silent else earned.get(at, 0.0) for at, one in enumerate(answers)}


def _weights(names: Sequence[str], task: RepairTask) -> dict[str, float]:
    """What an item is worth in points, so that the sum is the total's."""
    many = {kind: max(1, sum(name.startswith(kind) for name in names)) for kind in ("repair", "finding")}
    worth: dict[str, float] = {"repair": task.points[0], "finding": task.points[1]}
    return {name: worth[name.split()[0]] / many[name.split()[0]] for name in names}


def _thirds(points: Mapping[str, float]) -> dict[str, str]:
    """Student -> "upper" or "lower"; who is in neither is left out."""
    if not points:
        return {}
    ranked = sorted(points.values())
    size = math.ceil(len(ranked) / 3)
    low, high = ranked[size - 1], ranked[-size]
    if low >= high:
        return {}
    return {name: "upper" if own >= high else "lower" for name, own in points.items() if own >= high or own <= low}


def _item(
    name: str, shares: Mapping[str, Mapping[str, float | None]], worth: Mapping[str, float], thirds: Mapping[str, str]
) -> Item:
    """`name` against the rest; where another item is not told, the class's mean of it stands in."""
    usual = {
        other: _mean([value for own in shares.values() if (value := own.get(other)) is not None]) or 0.0
        for other in worth
    }
    ours = {student: value for student, own in shares.items() if (value := own.get(name)) is not None}
    rest = {
        student: sum(
            worth[other] * (usual[other] if value is None else value)
            for other, value in shares[student].items()
            if other != name
        )
        for student in ours
    }
    kind, _, fault = name.split(maxsplit=2)
    sides = [[value for student, value in ours.items() if thirds.get(student) == side] for side in ("upper", "lower")]
    r = correlation(list(ours.values()), list(rest.values()))
    return Item(name, kind, fault, len(ours), _mean(list(ours.values())), r, *map(_mean, sides))


def _mean(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), 4) if values else None


def correlation(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Pearson's r; None where one of the two is the same for everybody, or fewer than three are there."""
    if len(x) < 3:
        return None
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    over = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    under = math.sqrt(sum((a - mean_x) ** 2 for a in x) * sum((b - mean_y) ** 2 for b in y))
    return round(over / under, 4) if under > 1e-12 else None


def _drawn(
    graded: Sequence[Record], cases: _Cases, owners: Mapping[str, str], thirds: Mapping[str, str]
) -> list[Drawn]:
    """The causes that somebody named and that are not true of their program, the one that drew most first."""
    by: dict[str, set[str]] = {}
    for one in graded:
        answers = cases.answers(owners[one.student])
        right = {word for answer in answers for word in (*answer.causes, answer.cause)}
        for form in one.said:
            if (word := _word(form.get("cause"))) not in right:
                by.setdefault(word, set()).add(one.student)
    found = []
    for cause, names in by.items():
        sides = Counter(thirds.get(name) for name in names)
        found.append(Drawn(cause, len(names), sides["upper"], sides["lower"]))
    return sorted(found, key=lambda one: (-one.count, one.cause))


def _word(given: Any) -> str:
    try:
        return known_cause(given)
    except UserError:
        return "(no cause of the form)"


def _notes(found: Analysis, graded: Sequence[Record]) -> list[str]:
    """What somebody should know who reads the numbers."""
    notes = []
    if found.students < LEAST:
        notes.append(f"With {found.students} students, fewer than {LEAST}, the numbers say little.")
    for item in found.items:
        if item.discrimination is not None and item.discrimination < 0:
            notes.append(
                f"The {item.name} has negative discrimination ({item.discrimination:+.2f}, {item.students} students): who does "
                "well elsewhere does worse here. Look at what the good ones did, and at the key."
            )
    for one in found.drawn:
        if one.upper > one.lower and one.count >= 3:
            notes.append(
                f"“{one.cause}” drew {one.upper} of the upper third and {one.lower} of the lower: is it perhaps true as well?"
            )
    unknown = [item for item in found.items if item.students < found.students]
    for item in unknown:
        notes.append(f"The {item.name} is told by {item.students} of {found.students} results only.")
    if any(not one.said and float((one.diagnosis or {}).get("points", 0.0)) > 0 for one in graded):
        notes.append(
            "Some results keep no forms: they are of an older bugzoo. `bugzoo grade --fresh` makes them again."
        )
    return notes
