"""Moodle's offline grading worksheet: grade and feedback comments are filled in, and it goes back by its import."""

import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bugzoo.errors import UserError
from bugzoo.instructor import roster
from bugzoo.instructor.lms import outlets, sheet
from bugzoo.instructor.lms.feedback import lines
from bugzoo.instructor.records import ABSENT, Record
from bugzoo.instructor.roster import Student
from bugzoo.instructor.submission import readable
from bugzoo.instructor.tasks import Task

GRADE, MOST, FEEDBACK, OPEN = "grade", "maximum grade", "feedback comments", "grade can be changed"


class Worksheet:
    """Raises UserError at once for a file that is none, that lacks the column or could not be written."""

    def __init__(self, path: Path, task: Task, column: str | None = None) -> None:
        self.path, self.task, self.wanted = path, task, (column or GRADE).strip().casefold()
        outlets.check(path)
        self._open()

    def _open(self) -> tuple[sheet.Sheet, dict[str, int], dict[int, Student]]:
        table = sheet.read(self.path)
        named = {one.casefold(): at for at, one in reversed(list(enumerate(table.header)))}
        if "identifier" not in named:
            raise UserError(
                f"{self.path} is no grading worksheet of Moodle's: its first line is {', '.join(table.header)[:200] or 'empty'}. "
                "Turn offline grading worksheets on, set the course's language to English, and download it again."
            )
        if self.wanted not in named:
            raise UserError(
                f"{self.path} has no column {self.wanted!r}. Its columns are {', '.join(table.header)}. Say which: --column NAME."
            )
        return table, named, roster.rows(table)

    def students(self) -> list[Student]:
        return list(self._open()[2].values())

    def write(self, records: Sequence[Record], people: Mapping[str, Mapping[str, Any]]) -> str:
        table, named, rows = self._open()
        found, lost = outlets.laid(records, people, rows)
        done = replaced = 0
        scaled = False
        for row, record in found.items():
            if record.points is None or record.state in ABSENT:
                continue
            if OPEN in named and table.cell(row, named[OPEN]).strip().lower() == "no":
                lost.append(f"{record.student} (locked)")
                continue
            most = outlets.number(table.cell(row, named[MOST])) if MOST in named else None
            scale = most / record.max_points if most else 1.0
            before = outlets.number(table.cell(row, named[self.wanted]))
            replaced += before is not None and before != round(record.points * scale, 2)
            scaled |= scale != 1.0
            table.set(row, named[self.wanted], f"{record.points * scale:.2f}")
            if FEEDBACK in named:
                table.set(row, named[FEEDBACK], _feedback(record))
            done += 1
        outlets.save(table)
        more = "" if FEEDBACK in named else f" (it has no column {FEEDBACK!r})"
        more += ", of Moodle's maximum grade" if scaled else ""
        return outlets.said(done, self.path, replaced, lost, more)


def _feedback(record: Record) -> str:
    """Moodle takes HTML: what a submission printed stays text in it."""
    return "<br>".join(html.escape(sheet.harmless(readable(line))).replace("\n", "<br>") for line in lines(record))
