"""The class roster: a CSV file with a header, as nbgrader, Moodle, Canvas and most student offices export it."""

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bugzoo.errors import UserError

_IDS = ("student_id", "id", "student", "login", "username")
_FIELDS = {
    "last_name": ("last_name", "lastname", "surname", "family_name"),
    "first_name": ("first_name", "firstname", "given_name"),
    "email": ("email", "email_address", "e-mail", "mail"),
}
_NAMES = ("name", "full_name", "fullname", "student", "sortable_name")
_NUMBERS = (
    *_IDS, "participant_id", "moodle_id", "id_number", "idnumber", "canvas_id",
    "canvas_user_id", "user_id", "sis_user_id", "sis_login_id", "login_id", "student_number", "matriculation_number",
)  # fmt: skip
"""Columns with another id of the student, such as the number that Moodle or Canvas puts into file names."""
_SAFE = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._@-]{0,99}$")
_PARTICIPANT = ("identifier", "participant")
"""Moodle's grading worksheet says `Participant 100200` there, in the language of the site."""


@dataclass(frozen=True)
class Student:
    """One row. `id` names folders, so it has only letters, digits and `. _ @ -`."""

    id: str
    last_name: str = ""
    first_name: str = ""
    email: str = ""
    full_name: str = ""
    numbers: tuple[str, ...] = ()
    """Other ids of the student: of Moodle, of Canvas, a login."""

    @property
    def name(self) -> str:
        """First and last name, or the full name where the roster has no such columns; may be empty."""
        return " ".join(filter(None, (self.first_name, self.last_name))) or self.full_name


def read(path: Path) -> list[Student]:
    """Return the students of a roster, in its order. Raises UserError with the line of an invalid entry."""
    rows, columns = table(path)
    named = {_plain(column): column for column in reversed(columns) if column}  # the first of two equal ones
    key = next((named[name] for name in _IDS if name in named), None)
    if key is None:
        head = ", ".join(map(str, columns)) or "empty"
        problem = f"{path} has no column for the student's id; its first line is {head}."
        raise UserError(f"{problem} Name one column {', '.join(_IDS[:-1])} or {_IDS[-1]}.")
    students: dict[str, Student] = {}
    for line, row in enumerate(rows, 2):
        if _points(row):
            continue
        name = str(row[key] or "").strip()
        if not _SAFE.match(name):
            allowed = "use only letters, digits and . _ @ -, starting with a letter or a digit"
            problem = f"{path}, line {line}: {name!r} cannot be a student's id."
            raise UserError(f"{problem} Folders are named after it: {allowed}.")
        if name in students:
            raise UserError(f"{path}, line {line}: {name} appears twice.")
        students[name] = _student(name, key, row, named)
    if not students:
        raise UserError(f"{path} has no students.")
    return list(students.values())


def table(path: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the rows of a CSV file by column, and its columns. Raises UserError if it cannot be read."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
            return rows, list(rows[0]) if rows else []
    except OSError as error:
        raise UserError(f"{path} could not be read: {error.strerror}.") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path} could not be read as a CSV file in UTF-8: {error}.") from None


def of(known: Iterable[Student], people: Mapping[str, Mapping[str, Any]]) -> list[Student]:
    """Return the class: the students of a roster, then those of `people` (id -> names) who are not among them."""
    students = {student.id: student for student in known}
    for name, facts in people.items():
        last, first, email = (str(facts.get(field, "")) for field in _FIELDS)
        students.setdefault(name, Student(name, last, first, email))
    return list(students.values())


def _plain(column: object) -> str:
    return re.sub(r"\s+", "_", str(column).strip().lower())


def _points(row: Mapping[str, Any]) -> bool:
    """Return whether this is the second line of Canvas's export: the points of each assignment, not a student."""
    return any(str(value).strip() == "Points Possible" for value in list(row.values())[:2])


def _student(name: str, key: str, row: Mapping[str, Any], named: Mapping[str, str]) -> Student:
    def cells(columns: Iterable[str]) -> list[str]:
        values = (str(row.get(named[column]) or "").strip() for column in columns if named.get(column, key) != key)
        return [value for value in values if value]

    last, first, email, full = (next(iter(cells(columns)), "") for columns in (*_FIELDS.values(), _NAMES))
    numbers = [*cells(_NUMBERS), *(re.sub(r"^\D+", "", value) for value in cells(_PARTICIPANT))]
    return Student(name, last, first, email, full, tuple(filter(None, numbers)))
