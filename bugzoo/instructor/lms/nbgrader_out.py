"""nbgrader's gradebook: points go to the cells that its autograde fills in, where `nbgrader export` and its pages read."""

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from bugzoo.errors import UserError
from bugzoo.files import check_place
from bugzoo.instructor.lms import outlets
from bugzoo.instructor.records import ABSENT, Record
from bugzoo.instructor.roster import Student
from bugzoo.instructor.tasks import Task

_WHEN = "%Y-%m-%d %H:%M:%S"


class Database:
    """Raises UserError at once without nbgrader, for a file that is no gradebook, and for a place that cannot be written."""

    def __init__(self, path: Path, task: Task, column: str | None = None) -> None:
        self.path, self.task = path, task
        check_place(path)
        if path.is_file() and _begin(path) not in (b"", b"SQLite format 3"):
            raise UserError(
                f"{path} is no gradebook of nbgrader's: it is no SQLite file. Name gradebook.db of the course."
            )
        try:
            import nbgrader.api  # noqa: F401
        except ImportError:
            raise UserError(
                "--to nbgrader=FILE needs nbgrader, which is not installed. Type: pip install 'bugzoo[class]'"
            ) from None

    def students(self) -> list[Student]:
        return []

    def write(self, records: Sequence[Record], people: Mapping[str, Mapping[str, Any]]) -> str:
        done, lost = 0, []
        with _book(self.path) as book:
            self._prepare(book)
            for record in records:
                if record.state in ABSENT:
                    continue
                if record.unmatched:
                    lost.append(record.student)
                    continue
                self._one(book, record, people.get(record.student, {}))
                done += record.points is not None
        waiting = [
            one.student for one in records if one.points is None and not one.unmatched and one.state not in ABSENT
        ]
        more = f"; {len(waiting)} without a score wait there for a person" if waiting else ""
        return outlets.said(done, self.path, 0, lost, more)

    def _prepare(self, book: Any) -> None:
        """Assignment, notebook and graded cells, where `nbgrader generate_assignment` has not made them."""
        name = self.task.name
        book.update_or_create_assignment(name)
        book.update_or_create_notebook(name, name)
        for cell, points in zip(self.task.cells, self.task.points, strict=True):
            if not cell:
                continue
            book.update_or_create_grade_cell(cell, name, name, max_score=points, cell_type="code")

    def _one(self, book: Any, record: Record, facts: Mapping[str, Any]) -> None:
        """A person's own scores (`manual_score`) stay as they are and count before ours."""
        name = self.task.name
        words = {word: str(facts[word]) for word in ("first_name", "last_name", "email") if facts.get(word)}
        book.update_or_create_student(record.student, **words)
        earned = 0.0
        when = {"timestamp": found} if (found := _when(record.timestamp)) else {}
        book.update_or_create_submission(name, record.student, **when)
        for cell, part in zip(self.task.cells, (record.repair, record.diagnosis), strict=True):
            if not cell:
                continue
            grade = book.find_grade(cell, name, name, record.student)
            points = float(part["points"]) if part and record.points is not None else None
            points = 0.0 if points is None and record.points is not None else points
            grade.auto_score, grade.needs_manual_grade = points, points is None
            earned += points or 0.0
        # what the policy takes off; points that were given by hand and are more make it a negative number, which it may be
        notebook = book.find_submission_notebook(name, name, record.student)
        notebook.late_submission_penalty = 0.0 if record.points is None else round(earned - record.points, 4)
        book.db.commit()


def _begin(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(15)
    except OSError as error:
        raise UserError(f"{path} could not be read: {error.strerror}.") from None


def _when(text: str) -> datetime | None:
    try:
        return datetime.strptime(text[:19].replace("T", " "), _WHEN)
    except ValueError:
        return None


@contextlib.contextmanager
def _book(path: Path) -> Iterator[Any]:
    """nbgrader's gradebook, made where there is none. Raises UserError where nbgrader cannot work with the file."""
    before = os.environ.get("PATH", "")
    # for a new gradebook nbgrader calls alembic by its bare name
    os.environ["PATH"] = str(Path(sys.executable).parent) + os.pathsep + before
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # nbgrader's own, of sqlalchemy
            from nbgrader.api import Gradebook

            with contextlib.closing(Gradebook(f"sqlite:///{path.absolute()}")) as book:
                yield book
    except UserError:
        raise
    except Exception as error:  # of sqlalchemy and alembic: locked, another version, no gradebook
        raise UserError(
            f"{path} could not be filled in by nbgrader: {type(error).__name__}: {str(error)[:200]}. Results are kept; the "
            "same command tries again."
        ) from None
    finally:
        os.environ["PATH"] = before
