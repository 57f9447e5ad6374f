"""Scores for other systems: nbgrader's own export format, and a column of notes."""

import csv
import io
from collections.abc import Sequence
from typing import Any

from bugzoo.grading.model import FOR_A_PERSON
from bugzoo.grading.unreadable import A_PERSON
from bugzoo.instructor.records import MISSING, UNGRADED, Record
from bugzoo.printable import csv_cell

COLUMNS = (
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email", "raw_score",
    "late_submission_penalty", "score", "max_score",
)  # fmt: skip
"""The columns of nbgrader's export. Ours has one more, `notes`."""


def notes(record: Record) -> list[str]:
    """Return what is odd about a hand-in: why it could not be graded, that it was renamed, for whom it was drawn."""
    waiting = record.state in (UNGRADED, FOR_A_PERSON) or record.message.endswith(A_PERSON)
    why = [": ".join(filter(None, (record.state, record.message)))] if waiting else []
    return [*why, *([MISSING] if record.state == MISSING else []), *record.notes]


def nbgrader(records: Sequence[Record], assignment: str, people: dict[str, dict[str, Any]]) -> str:
    """Return CSV as `nbgrader export` writes it: floats, and 0.0 without a time for a missing submission.

    A student who could not be graded has empty scores, not zero. Unlike nbgrader, it quotes text with a comma, adds the
    column `notes`, and writes no cell that a spreadsheet would compute.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow((*COLUMNS, "notes"))
    for record in records:
        who = people.get(record.student, {})
        score = "" if record.points is None else str(float(record.points))
        names = [who.get(field, "") for field in ("last_name", "first_name", "email")]
        late = "" if record.points is None else "0.0"
        row = [assignment, "", record.timestamp, record.student, *names, score, late, score, float(record.max_points)]
        writer.writerow([csv_cell(value) for value in (*row, "; ".join(notes(record)))])
    return out.getvalue()
