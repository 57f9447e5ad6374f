"""What came of a student's submission, one JSON file each: written whole as it is done, read again by the next call."""

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bugzoo.errors import UserError
from bugzoo.files import write_atomic
from bugzoo.instructor.submission import Submission

UNGRADED = "cannot be graded"
MISSING = "not handed in"


@dataclass
class Record:
    """One student's outcome. `points` is None where nothing could be graded: that is no zero and costs no attempt."""

    student: str
    state: str
    points: float | None
    max_points: float
    message: str = ""
    notes: list[str] = field(default_factory=list)
    repair: dict[str, Any] | None = None
    diagnosis: dict[str, Any] | None = None
    file: str = ""
    timestamp: str = ""
    digest: str = ""
    by: str = ""
    """Fingerprint of the grader and the key: a result of another one is not used again."""


def _file(results: Path, student: str) -> Path:
    """A file name for any student's name."""
    plain = re.sub(r"[^A-Za-z0-9._@-]", "_", student)[:80]
    if plain != student:
        plain += "-" + hashlib.sha256(student.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return results / f"{plain}.json"


def kept(results: Path, one: Submission, by: str) -> Record | None:
    """The result of an earlier call for this very file; what could not be graded then is tried again."""
    try:
        record = Record(**json.loads(_file(results, one.student).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    same = record.by == by and record.digest == one.digest and record.student == one.student and bool(one.digest)
    return record if same and record.state != UNGRADED else None


def keep(results: Path, record: Record) -> None:
    """Whole or not at all. Raises UserError; what was graded before is kept."""
    write_atomic(_file(results, record.student), json.dumps(asdict(record), indent=1, default=str))


def make(results: Path) -> None:
    try:
        results.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"{results} could not be made: {error.strerror}. Choose another folder with --results."
        ) from None
