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
UNCLEAR = "unmatched hand-ins"
"""The state of somebody of whom nothing was found, while hand-ins that could be theirs match nobody."""
ABSENT = (MISSING, UNCLEAR)


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
    clock: str = ""
    """"file" where `timestamp` is only the file's own time: it may be that of a copy."""
    digest: str = ""
    place: str = ""
    """The folder or number that the LMS knows the hand-in by."""
    matched: str = ""
    """By what its author was found on the roster."""
    unmatched: str = ""
    """Why nobody on the roster is its author: the points are nobody's then."""
    by: str = ""
    """Fingerprint of the grader and the key: a result of another one is not used again."""
    tries: list[dict[str, Any]] = field(default_factory=list)
    """Earlier hand-ins of the student that cost an attempt, in their order: digest, time, state and the grader's points."""
    said: list[dict[str, Any]] = field(default_factory=list)
    """What was filled into the forms of the diagnosis."""
    raw: float | None = None
    """The grader's points; `points` are those that count, after policy and overrides. Worked out on reading, as all below."""
    penalty: float = 0.0
    """What lateness took off."""
    due: str = ""
    changes: list[str] = field(default_factory=list)
    """A sentence for everything that was done to the grader's points."""


TRY = ("digest", "timestamp", "clock", "state", "points")


def valid(record: Record) -> bool:
    """Whether a hand-in costs an attempt: something was changed or said, and it was judged. What is no Python was not."""
    judged = record.state in ("passed", "wrong") or bool((record.repair or {}).get("checks"))
    return record.points is not None and bool(record.digest) and judged and record.state != "not attempted"


def earlier(results: Path, one: Submission) -> list[dict[str, Any]]:
    """The tries that are known of a student, whatever graded them; the one at hand is not of them, unless it was handed in
    before another one."""
    last = _read(results, one.student)
    if last is None:
        return []
    again = last.digest == one.digest or last.digest in [each["digest"] for each in last.tries]
    return last.tries if again or not valid(last) else [*last.tries, {name: getattr(last, name) for name in TRY}]


def safe(student: str) -> str:
    """A file name, without its suffix, for any student's name."""
    plain = re.sub(r"^\.|[^A-Za-z0-9._@-]", "_", student)[:80]
    if plain != student:
        plain += "-" + hashlib.sha256(student.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return plain


def kept(results: Path, one: Submission, by: str) -> Record | None:
    """The result of an earlier call for this very file; what could not be graded then is tried again."""
    record = _read(results, one.student)
    same = record is not None and record.by == by and record.digest == one.digest and bool(one.digest)
    return record if record and same and record.state != UNGRADED else None


def _read(results: Path, student: str) -> Record | None:
    """What is kept of a student; None where that is nothing, or nothing that can be read."""
    try:
        record = Record(**json.loads((results / f"{safe(student)}.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return record if record.student == student else None


def keep(results: Path, record: Record) -> None:
    """Whole or not at all. Raises UserError; what was graded before is kept."""
    write_atomic(results / f"{safe(record.student)}.json", json.dumps(asdict(record), indent=1, default=str))


def make(results: Path) -> None:
    try:
        results.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"{results} could not be made: {error.strerror}. Choose another folder with --results."
        ) from None
