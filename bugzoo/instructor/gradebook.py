"""Scores as a table of our own: nbgrader's export format, and behind its columns what came of each hand-in."""

from collections.abc import Sequence
from typing import Any

from bugzoo.instructor.lms.sheet import written
from bugzoo.instructor.records import Record

COLUMNS = (
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email", "raw_score",
    "late_submission_penalty", "score", "max_score",
)  # fmt: skip
"""Those that nbgrader exports."""
MORE = ("repair", "diagnosis", "state", "note")


def first_failure(repair: dict[str, Any]) -> str:
    """The first check that did not pass, and what it saw."""
    failed = [check for check in repair.get("checks", []) if check["status"] != "passed"]
    return f"{failed[0]['name']}: {failed[0]['saw']}" if failed else ""


def why(record: Record) -> str:
    """What an instructor wants to know of a record in one line."""
    nobody = f"NOBODY'S HAND-IN: {record.unmatched}" if record.unmatched else ""
    said = [nobody, first_failure(record.repair or {}) or record.message, *record.changes, *record.notes]
    return "; ".join(text.rstrip(".") for text in said if text)


def nbgrader(records: Sequence[Record], assignment: str, people: dict[str, dict[str, Any]]) -> str:
    """CSV as `nbgrader export` writes it: numbers as floats, and 0.0 without a time for who handed nothing in.

    Who could not be graded has empty scores: that is no zero. Unlike nbgrader's, what holds a comma is quoted, what a table
    would take for a formula begins with an apostrophe, and points of repair and diagnosis, state and note stand behind.
    `raw_score` is the grader's, `score` what counts; where points were given by hand the note says so.
    """
    lines: list[list[str]] = [[*COLUMNS, *MORE]]
    for record in records:
        who = people.get(record.student, {})
        score = "" if record.points is None else str(float(record.points))
        names = [str(who.get(field) or "") for field in ("last_name", "first_name", "email")]
        names[0] = names[0] or ("" if names[1] else str(who.get("name") or ""))
        raw = record.points if record.raw is None else record.raw
        late = "" if record.points is None else str(float(record.penalty))
        parts = [str(float(part["points"])) if part else "" for part in (record.repair, record.diagnosis)]
        scores = ["" if raw is None else str(float(raw)), late, score, str(float(record.max_points))]
        lines.append(
            [
                assignment,
                record.due,
                record.timestamp,
                record.student,
                *names,
                *scores,
                *parts,
                record.state,
                why(record),
            ]
        )
    return written(lines)
