"""The result of each student's submission in a JSON file: written whole once graded, read by the next call."""

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bugzoo.errors import UserError
from bugzoo.files import write_atomic
from bugzoo.grading.model import FOR_A_PERSON
from bugzoo.instructor.submission import Submission, shown
from bugzoo.printable import printable_in

UNGRADED = "cannot be graded"
MISSING = "not handed in"


@dataclass
class Record:
    """One student's result. `points` is None if it could not be graded: that is not zero and costs no attempt."""

    student: str
    state: str
    points: float | None
    max_points: float
    message: str = ""
    notes: list[str] = field(default_factory=list)
    upload_notes: list[str] = field(default_factory=list)
    """Those of the notes that come from names of files, not from the notebook: they are renewed at each call."""
    repair: dict[str, Any] | None = None
    diagnosis: dict[str, Any] | None = None
    file: str = ""
    timestamp: str = ""
    digest: str = ""
    broken: bool = False
    """Whether it could not be graded because of the hand-in itself, such as a syntax error, and not of the machine."""
    by: str = ""
    """Fingerprint of the grader and the key; a result with another fingerprint is not reused."""

    @property
    def aside(self) -> bool:
        """Whether nothing of it was run, as it uses more than plain PyTorch."""
        return self.state == FOR_A_PERSON and self.repair is None


def clean(record: Record) -> Record:
    """Return a record whose texts are safe to show: a student's error message may hold control characters."""
    return Record(**printable_in(asdict(record)))


def _file(results: Path, student: str) -> Path:
    """Return the file for a student, whatever the name."""
    plain = re.sub(r"[^A-Za-z0-9._@-]", "_", student)[:80]
    if plain != student:
        plain += "-" + hashlib.sha256(student.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return results / f"{plain}.json"


def kept(results: Path, one: Submission, by: str) -> Record | None:
    """Return an earlier result for this exact file; a file that could not be graded is tried again."""
    try:
        record = clean(Record(**json.loads(_file(results, one.student).read_text(encoding="utf-8"))))
    except (OSError, ValueError, TypeError):
        return None
    notes = [note for note in record.notes if note not in record.upload_notes]
    record.upload_notes, record.file = list(one.upload_notes), shown(one.path or "")
    record.notes = [*record.upload_notes, *notes]
    same = record.by == by and record.digest == one.digest and record.student == one.student and bool(one.digest)
    return record if same and record.state != UNGRADED else None


def keep(results: Path, record: Record) -> None:
    """Write a result, whole or not at all. Raises UserError; earlier results are kept."""
    write_atomic(_file(results, record.student), json.dumps(asdict(record), indent=1, default=str))


def make(results: Path) -> None:
    try:
        results.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"{results} could not be created: {error.strerror}."
        raise UserError(f"{problem} Choose another folder with --results.") from None
