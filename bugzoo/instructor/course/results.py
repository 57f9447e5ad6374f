"""The records of a graded class, read back from the folder in which `bugzoo grade` keeps them."""

import json
from collections.abc import Iterator
from pathlib import Path

from bugzoo.errors import UserError
from bugzoo.instructor.records import Record


def folder(given: Path, name: str) -> Path:
    """Where the records of the assignment `name` lie: `given` itself, or the folder of that name in it. Raises UserError."""
    if not given.is_dir():
        raise UserError(
            f"{given} is no folder; name the one in which `bugzoo grade` keeps results, such as submitted_graded."
        )
    return given / name if (given / name).is_dir() else given


def holds(given: Path, name: str) -> bool:
    """Whether `given` is such a folder: records lie in it, and no notebook does."""
    return given.is_dir() and any(_records(folder(given, name)))


def _records(place: Path) -> Iterator[Record]:
    for path in sorted(place.glob("*.json")):
        try:
            yield Record(**json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            continue


def read(place: Path, by: str) -> tuple[list[Record], int]:
    """(the records in the order of their names, how many were graded with another key or bugzoo than `by`).

    Raises UserError where there is none. A file that is no record is left aside.
    """
    found = list(_records(place))
    if not found:
        raise UserError(
            f"{place} holds no result of a student. `bugzoo grade SUBMISSIONS --assignment ...` makes them."
        )
    return sorted(found, key=lambda one: one.student), sum(one.by != by for one in found)
