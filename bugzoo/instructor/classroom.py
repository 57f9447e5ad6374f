"""A whole class: each submission by itself in the sandbox, its result kept as it comes.

Whatever is in a submission, the others are graded. Stopped half-way, the next call goes on where this one was.
"""

import contextlib
import hashlib
import json
import os
import re
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bugzoo.errors import UserError
from bugzoo.grading.program import join
from bugzoo.instructor import spoken
from bugzoo.instructor import submission as handed_in
from bugzoo.instructor.submission import Submission
from bugzoo.instructor.tasks import Task
from bugzoo.running.worker import stop_all

Progress = Callable[[int, int], None]
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


def grade_class(
    folder: Path,
    task: Task,
    results: Path,
    progress: Progress | None = None,
    workers: int | None = None,
    fresh: bool = False,
    trust: bool = False,
) -> list[Record]:
    """Grade every submission in `folder`; records in alphabetical order, those who handed nothing in at the end.

    `results` keeps one JSON file a student, written as each is done; what is there already, for the same file and the same
    key, is not graded again unless `fresh`. `trust` grades on where there is no sandbox. Raises UserError for a folder
    that holds no submission, and where the sandbox cannot be set up. Ctrl-C ends what is running and raises.
    """
    found = _submissions(folder, task)
    if not trust:
        spoken.check_sandbox()
    _make(results)
    by = task.fingerprint()
    known = {} if fresh else {one.student: _kept(results, one, by) for one in found}
    records = {name: record for name, record in known.items() if record}
    todo = [one for one in found if one.student not in records]
    if progress:
        progress(len(records), len(found))
    stopping = threading.Event()

    def one_of_them(one: Submission) -> Record:
        record = _grade(one, task, by, strict=not trust)
        if not stopping.is_set():  # a run that was ended by Ctrl-C says nothing about its author
            _keep(results, record)
        return record

    pool = ThreadPoolExecutor(workers or len(os.sched_getaffinity(0)), thread_name_prefix="bugzoo")
    futures: list[Future[Record]] = []
    try:
        futures = [pool.submit(one_of_them, one) for one in todo]
        for future in as_completed(futures):
            record = future.result()
            records[record.student] = record
            if progress:
                progress(len(records), len(found))
    except BaseException:
        stopping.set()
        for future in futures:
            future.cancel()
        while not all(future.done() for future in futures):
            stop_all()
            wait(futures, timeout=0.2)
        raise
    finally:
        pool.shutdown(wait=True)
    absent = [name for name in task.people if name not in records]
    missing = [Record(name, MISSING, 0.0, task.max_points) for name in sorted(absent)]
    return [records[one.student] for one in found] + missing


def _submissions(folder: Path, task: Task) -> list[Submission]:
    if not folder.is_dir():
        raise UserError(f"{folder} is no folder; name the one that holds the submissions.")
    found = handed_in.find(folder, task.name)
    if not found:
        raise UserError(
            f"{folder} holds no submission: no folder of a student and no .ipynb file. nbgrader's layout is "
            f"<student>/{task.name}/{task.name}.ipynb."
        )
    twice = {one.student for one in found if sum(other.student == one.student for other in found) > 1}
    if twice:
        raise UserError(f"{folder} holds both a folder and a file of {', '.join(sorted(twice))}; keep one of them.")
    original = task.original()
    return [handed_in.read(one, original, task.name) for one in found]


def _grade(one: Submission, task: Task, by: str, strict: bool) -> Record:
    """Never raises for what is in a submission."""
    record = Record(one.student, UNGRADED, None, task.max_points, one.problem, list(one.notes), by=by)
    record.file, record.timestamp, record.digest = str(one.path or ""), one.timestamp, one.digest
    if one.problem:
        return record
    try:
        owner, note = task.owner(one.student, one.tag)
        record.notes += [note] if note else []
        records, trouble = spoken.records(one.answer, isolated=strict)
        diagnosis = task.diagnosis(owner, records)
        if diagnosis.status == "not attempted" and trouble:
            diagnosis.status, diagnosis.message = "your code raised", trouble
        repair = task.repair(owner, join(one.sections), records, strict)
    except Exception as error:  # a file can be strange in ways that nobody thought of; the class goes on
        record.message = f"the grader failed: {type(error).__name__}: {error}"[:300]
        return record
    record.repair, record.diagnosis = repair.to_json(), diagnosis.to_json()
    record.state = _state(repair.status, diagnosis.status)
    record.message = repair.message if repair.status != "passed" else ""
    if record.state != UNGRADED:
        record.points = round(repair.points + diagnosis.points, 4)
    return record


def _state(repair: str, diagnosis: str) -> str:
    """The repair's own state; without one, "not attempted" only when nothing was said either."""
    if repair != "not attempted" or diagnosis == "not attempted":
        return repair
    return "wrong"


def _file(results: Path, student: str) -> Path:
    """A file name for any student's name."""
    plain = re.sub(r"[^A-Za-z0-9._@-]", "_", student)[:80]
    if plain != student:
        plain += "-" + hashlib.sha256(student.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return results / f"{plain}.json"


def _kept(results: Path, one: Submission, by: str) -> Record | None:
    """The result of an earlier call for this very file; what could not be graded then is tried again."""
    try:
        record = Record(**json.loads(_file(results, one.student).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    same = record.by == by and record.digest == one.digest and record.student == one.student and bool(one.digest)
    return record if same and record.state != UNGRADED else None


def _keep(results: Path, record: Record) -> None:
    """Whole or not at all."""
    path = _file(results, record.student)
    partial = None
    try:
        handle, partial = tempfile.mkstemp(dir=results, prefix=".", suffix=".part")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(asdict(record), file, indent=1, default=str)
        os.replace(partial, path)
    except OSError as error:
        if partial:
            with contextlib.suppress(OSError):
                os.unlink(partial)
        raise UserError(f"{path} could not be written: {error.strerror}. What was graded before is kept.") from None


def _make(results: Path) -> None:
    try:
        results.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"{results} could not be made: {error.strerror}. Choose another folder with --results."
        ) from None
