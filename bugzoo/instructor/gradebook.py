"""Scores for other systems: nbgrader's own export format."""

import csv
import io
from collections.abc import Sequence
from typing import Any

from bugzoo.instructor.classroom import Record

COLUMNS = (
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email", "raw_score",
    "late_submission_penalty", "score", "max_score",
)  # fmt: skip


def nbgrader(records: Sequence[Record], assignment: str, people: dict[str, dict[str, Any]]) -> str:
    """Return CSV as `nbgrader export` writes it: floats, and 0.0 without a time for a missing submission.

    A student who could not be graded has empty scores, not zero. Unlike nbgrader, it quotes text with a comma.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for record in records:
        who = people.get(record.student, {})
        score = "" if record.points is None else str(float(record.points))
        names = [who.get(field, "") for field in ("last_name", "first_name", "email")]
        late = "" if record.points is None else "0.0"
        row = [
            assignment,
            "",
            record.timestamp,
            record.student,
            *names,
            score,
            late,
            score,
            str(float(record.max_points)),
        ]
        writer.writerow(row)
    return out.getvalue()
