"""The class roster: a CSV file with a header, as nbgrader and most student offices export it."""

import csv
import re
from dataclasses import dataclass
from pathlib import Path

from bugzoo.errors import UserError

_IDS = ("student_id", "id", "student", "login", "username")
_SAFE = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._@-]{0,99}$")


@dataclass(frozen=True)
class Student:
    """One row. `id` names folders, so it has only letters, digits and `. _ @ -`."""

    id: str
    last_name: str = ""
    first_name: str = ""
    email: str = ""


def read(path: Path) -> list[Student]:
    """Return the students of a roster, in its order. Raises UserError with the line of an invalid entry."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
            columns = list(rows[0]) if rows else []
    except OSError as error:
        raise UserError(f"{path} could not be read: {error.strerror}.") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path} could not be read as a CSV file in UTF-8: {error}.") from None
    named = {str(column).strip().lower(): column for column in columns if column}
    key = next((named[name] for name in _IDS if name in named), None)
    if key is None:
        raise UserError(
            f"{path} has no column for the student's id; its first line is {', '.join(map(str, columns)) or 'empty'}. "
            f"Name one column {', '.join(_IDS[:-1])} or {_IDS[-1]}."
        )
    found: dict[str, Student] = {}
    for line, row in enumerate(rows, 2):
        name = str(row[key] or "").strip()
        if not _SAFE.match(name):
            raise UserError(
                f"{path}, line {line}: {name!r} cannot be a student's id. Folders are named after it: use only "
                "letters, digits and . _ @ -, starting with a letter or a digit."
            )
        if name in found:
            raise UserError(f"{path}, line {line}: {name} appears twice.")
        other = {
            field: str(row.get(named.get(field, "")) or "").strip() for field in ("last_name", "first_name", "email")
        }
        found[name] = Student(name, **other)
    if not found:
        raise UserError(f"{path} has no students.")
    return list(found.values())
