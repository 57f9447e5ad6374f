"""Points that an instructor gives by hand, with the reason. They lie in a file of their own and outlive every regrade.

    [ada]                          # overrides.toml
    repair = 7                     # what the grader gave for the repair is replaced; late days count as before
    reason = "graded on another machine, the sandbox was out of memory"

    [ben]
    points = 5                     # all of it, whatever the grader and the policy say
    reason = "oral examination"

As a CSV file the columns are student, points, repair, diagnosis and reason.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bugzoo.errors import UserError
from bugzoo.instructor.course.policy import known, toml
from bugzoo.instructor.lms import sheet

NAMES = ("overrides.toml", "overrides.csv")
"""What is looked for beside the results."""
NUMBERS = ("points", "repair", "diagnosis")
MOST = 10_000


@dataclass(frozen=True)
class Override:
    """What stands for one student. Either `points`, or one or both of the parts."""

    reason: str
    points: float | None = None
    repair: float | None = None
    diagnosis: float | None = None


@dataclass(frozen=True)
class Overrides:
    """Student -> override, and where they were read."""

    path: Path | None = None
    of: Mapping[str, Override] | None = None

    def get(self, student: str) -> Override | None:
        return (self.of or {}).get(student)

    def check(self, students: Collection[str]) -> None:
        """Raises UserError for an override of somebody who is not in the class and handed nothing in."""
        known(self.path, "an override", self.of or {}, students)


def find(results: Path) -> Path | None:
    """The overrides that lie in the folder of the results. Raises UserError where there are two files of them."""
    there = [results / name for name in NAMES if (results / name).is_file()]
    if len(there) > 1:
        raise UserError(f"{there[0]} and {there[1]} both hold overrides; keep one of them.")
    return there[0] if there else None


def read(path: Path) -> Overrides:
    """The overrides of a file. Raises UserError, with the student, for what is none."""
    rows = _table(path) if path.suffix.lower() == ".csv" else _toml(path)
    return Overrides(path, {student: _one(path, student, facts) for student, facts in rows.items()})


def _toml(path: Path) -> dict[str, Any]:
    return {str(student): facts for student, facts in toml(path).items()}


def _table(path: Path) -> dict[str, Any]:
    found = sheet.read(path)
    named = [one.casefold() for one in found.header]
    if "student" not in named or "reason" not in named:
        raise UserError(
            f"{path} has no column {'student' if 'student' not in named else 'reason'}; its first line is "
            f"{', '.join(found.header)[:200] or 'empty'}. The columns are student, points, repair, diagnosis, reason."
        )
    rows: dict[str, Any] = {}
    for row in range(1, len(found.rows)):
        cells = {name: found.cell(row, at).strip() for at, name in enumerate(named) if name}
        student = cells.pop("student")
        if student in rows:
            raise UserError(f"{path}: {student} is there twice; keep one of the lines.")
        rows[student] = {name: _read(text) if name in NUMBERS else text for name, text in cells.items() if text}
    return rows


def _read(text: str) -> float | str:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return text


def _one(path: Path, student: str, facts: Any) -> Override:
    if not isinstance(facts, dict):
        raise UserError(f"{path}: {student} = {facts!r} is not allowed; below [{student}] stand points and a reason.")
    for name in facts:
        if name not in (*NUMBERS, "reason"):
            raise UserError(
                f"{path}: there is no {name!r} in an override ({student}). It has {', '.join(NUMBERS)}, reason."
            )
    reason = facts.get("reason")
    if not isinstance(reason, str) or not reason.strip():
        raise UserError(f'{path}: the override of {student} gives no reason. Add reason = "...".')
    given = {name: facts[name] for name in NUMBERS if name in facts}
    for name, value in given.items():
        right = isinstance(value, int | float) and not isinstance(value, bool)
        if not right or not math.isfinite(value) or not 0 <= value <= MOST:
            raise UserError(f"{path}: {name} = {value!r} of {student} is not allowed; it is a number from 0 to {MOST}.")
    if not given or ("points" in given and len(given) > 1):
        raise UserError(
            f"{path}: the override of {student} names {', '.join(given) or 'no points'}; it names either points, or repair, "
            "diagnosis or both."
        )
    return Override(" ".join(reason.split()), **{name: float(value) for name, value in given.items()})
