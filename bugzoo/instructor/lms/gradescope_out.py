"""Gradescope's `results.json`: what an autograder writes, here for each submission of a class."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bugzoo.files import check_folder, write_atomic
from bugzoo.instructor.lms.feedback import lines, parts
from bugzoo.instructor.records import ABSENT, Record, safe
from bugzoo.instructor.roster import Student
from bugzoo.instructor.submission import readable
from bugzoo.instructor.tasks import Task
from bugzoo.plain import plain

FILE = "results.json"


def results(record: Record) -> dict[str, Any]:
    """As Gradescope reads it. What could not be graded has no score: Gradescope then shows the text, and no zero."""
    found: dict[str, Any] = {"output": readable("\n".join(lines(record))), "visibility": "visible", "tests": []}
    found["extra_data"] = {"state": record.state, "notes": list(record.notes), "by": record.by, "raw": record.raw}
    if record.points is None:
        return found | {"stdout_visibility": "visible"}
    found["score"] = record.points
    for name, points, most, said in parts(record):
        test = {"name": name, "score": points, "max_score": most, "output": readable(said), "visibility": "visible"}
        found["tests"].append(test | {"status": "passed" if points == most else "failed"})
    return found


class Folder:
    """A folder a submission, called as Gradescope's export calls it, else as the student. Raises UserError."""

    def __init__(self, path: Path, task: Task, column: str | None = None) -> None:
        self.path, self.task = path, task
        check_folder(path)

    def students(self) -> list[Student]:
        return []

    def write(self, records: Sequence[Record], people: Mapping[str, Mapping[str, Any]]) -> str:
        done = 0
        for record in records:
            if record.state not in ABSENT:
                place = record.place if record.place.startswith("submission_") else safe(record.student)
                text = json.dumps(plain(results(record)), indent=1, allow_nan=False)
                write_atomic(self.path / place / FILE, text + "\n", parents=True)
                done += 1
        return f"{done} {FILE} written below {self.path}."
