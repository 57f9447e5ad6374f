"""Canvas's own gradebook, as it exports it: the column of the assignment is filled in, and goes back as it came."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bugzoo.errors import UserError
from bugzoo.instructor import roster
from bugzoo.instructor.lms import outlets, sheet
from bugzoo.instructor.lms.canvas import FIXED
from bugzoo.instructor.records import ABSENT, Record
from bugzoo.instructor.roster import Student
from bugzoo.instructor.tasks import Task

_NUMBERED = re.compile(r"^(?P<title>.*?)\s*\((?P<number>\d+)\)$", re.DOTALL)


class Gradebook:
    """Raises UserError at once for a file that is none, that lacks the column or could not be written."""

    def __init__(self, path: Path, task: Task, column: str | None = None) -> None:
        self.path, self.wanted, self.task = path, column, task
        outlets.check(path)
        self._open()

    def _open(self) -> tuple[sheet.Sheet, int, dict[int, Student]]:
        table = sheet.read(self.path)
        if not {"student", "id", "section"} <= {one.lower() for one in table.header}:
            raise UserError(
                f"{self.path} is no gradebook of Canvas's: its first line is {', '.join(table.header)[:200] or 'empty'}. "
                "Export it: Grades, Export, Export Entire Gradebook."
            )
        return table, _column(table, self.wanted, self.task), roster.rows(table)

    def students(self) -> list[Student]:
        return list(self._open()[2].values())

    def write(self, records: Sequence[Record], people: Mapping[str, Mapping[str, Any]]) -> str:
        table, column, rows = self._open()
        found, lost = outlets.laid(records, people, rows)
        most = _possible(table, column)
        scale = most / self.task.max_points if most else 1.0
        done = replaced = 0
        for row, record in found.items():
            if record.points is None or record.state in ABSENT:
                continue  # neither a zero for whom nothing was found, nor for what could not be graded
            text, before = f"{record.points * scale:.2f}", outlets.number(table.cell(row, column))
            replaced += before is not None and before != round(record.points * scale, 2)
            table.set(row, column, text)
            done += 1
        outlets.save(table)
        more = f", in the column {table.header[column]!r}"
        more += f", of {most:g} points instead of {self.task.max_points:g}" if scale != 1.0 else ""
        return outlets.said(done, self.path, replaced, lost, more)


def _column(table: sheet.Sheet, wanted: str | None, task: Task) -> int:
    """The column called as asked for, or as the assignment. Raises UserError with those that there are."""
    there = [(at, one) for at, one in enumerate(table.header) if one.lower() not in FIXED and one]
    numbered = [(at, one) for at, one in there if _NUMBERED.match(one)]
    for name in [wanted] if wanted is not None else [task.title, task.name]:
        small = str(name).strip().casefold()
        whole = [at for at, one in there if one.casefold() == small]
        short = [at for at, one in numbered if small in _parts(one)]
        if len(fitting := whole or short) == 1:
            return fitting[0]
        if len(fitting) > 1:
            names = ", ".join(repr(table.header[at]) for at in fitting)
            raise UserError(
                f"{table.path} has {len(fitting)} columns called {name!r}: {names}. Say --column with the number."
            )
    asked = f"{wanted!r}" if wanted is not None else f"{task.title!r}"
    names = ", ".join(repr(one) for _, one in (numbered or there)[:20]) or "none"
    raise UserError(f"{table.path} has no column {asked}. Its assignments are {names}. Say which: --column NAME.")


def _parts(header: str) -> tuple[str, str]:
    """Canvas calls a column `Week 3 (123456)`: (title, number)."""
    match = _NUMBERED.match(header)
    return (match["title"].casefold(), match["number"]) if match else (header.casefold(), "")


def _possible(table: sheet.Sheet, column: int) -> float | None:
    """What Canvas says in its line of the points possible."""
    for row in range(1, min(4, len(table.rows))):
        if table.cell(row, 0).strip().lower() == "points possible":
            return outlets.number(table.cell(row, column))
    return None
