"""Grading a whole class: each submission runs alone in the sandbox, and each result is saved at once.

A broken submission does not stop the others. After an interruption, the next call continues where this one stopped.
"""

from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from pathlib import Path

from bugzoo.errors import UserError
from bugzoo.grading.program import join
from bugzoo.instructor import diagnosis_cell, form_records
from bugzoo.instructor import records as store
from bugzoo.instructor import submission as handed_in
from bugzoo.instructor.folder import FILE, FOLDER
from bugzoo.instructor.records import MISSING, UNGRADED, Record
from bugzoo.instructor.submission import Submission
from bugzoo.instructor.tasks import Gradable
from bugzoo.running.pool import run_all

Progress = Callable[[int, int], None]


def grade_class(
    folder: Path,
    task: Gradable,
    results: Path,
    progress: Progress | None = None,
    workers: int | None = None,
    fresh: bool = False,
    trust: bool = False,
    executor: Executor | None = None,
) -> list[Record]:
    """Grade every submission in `folder`. Return records in alphabetical order, missing submissions last.

    `results` holds one JSON file per student, written as soon as it is graded. A result for the same file and key is
    reused unless `fresh`. With `trust` it grades even without a sandbox.
    `executor`: other machines instead of `workers` here, such as a Dask cluster's. Raises UserError for a folder
    without a submission, or when the sandbox cannot be set up. Ctrl-C ends the running jobs and raises.
    """
    found = _submissions(folder, task)
    if not trust:
        diagnosis_cell.check_sandbox()
    store.make(results)
    by = task.fingerprint()
    known = {} if fresh else {one.student: store.kept(results, one, by) for one in found}
    records = {name: record for name, record in known.items() if record}
    todo = [one for one in found if one.student not in records]
    if progress:
        progress(len(records), len(found))

    def tell(_: int, record: Record) -> None:  # not after Ctrl-C: a run that it ended says nothing about the student
        store.keep(results, record)
        records[record.student] = record
        if progress:
            progress(len(records), len(found))

    grade = partial(_grade, task=task, by=by, strict=not trust)
    run_all(grade, todo, executor=executor, workers=workers, on_done=tell)
    absent = [name for name in task.people if name not in records]
    missing = [Record(name, MISSING, 0.0, task.max_points) for name in sorted(absent)]
    return [records[one.student] for one in found] + missing


def _submissions(folder: Path, task: Gradable) -> list[Submission]:
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder. Name the folder that holds the submissions.")
    if (folder / FOLDER / FILE).exists():
        raise UserError(
            f"{folder} is the assignment itself, with its answer key. Name the folder of submissions, such as "
            f"{folder / 'submitted'}."
        )
    found = handed_in.find(folder, task.name)
    if not found:
        raise UserError(
            f"{folder} has no submissions: no student folder and no .ipynb file. nbgrader's layout is "
            f"<student>/{task.name}/{task.name}.ipynb."
        )
    original = task.original()
    return [handed_in.read(one, original, task.name) for one in handed_in.once_each(found)]


def _grade(one: Submission, task: Gradable, by: str, strict: bool) -> Record:
    """Grade one submission. Nothing in it makes this raise."""
    record = Record(one.student, UNGRADED, None, task.max_points, one.problem, list(one.notes), by=by)
    record.file, record.timestamp, record.digest = handed_in.shown(one.path or ""), one.timestamp, one.digest
    if one.problem:
        return record
    try:
        owner, note = task.owner(one.student, one.tag)
        record.notes += [note] if note else []
        given, odd = form_records.latest(one.forms, task.ticket(owner))
        records, trouble = diagnosis_cell.records(one.answer, given, strict=strict)
        record.notes += odd + diagnosis_cell.overridden(given, records)
        diagnosis = task.diagnosis(owner, records)
        if diagnosis.status == "not attempted" and trouble:
            diagnosis.status, diagnosis.message = "your code raised", trouble
        repair = task.repair(owner, join(one.sections), records, strict)
    except Exception as error:  # a file can be odd in ways that no test foresaw; the class continues
        record.message = f"the grader failed: {type(error).__name__}: {error}"[:300]
        return record
    record.repair, record.diagnosis = repair.to_json(), diagnosis.to_json()
    record.state = _state(repair.status, diagnosis.status)
    record.message = repair.message if repair.status != "passed" else ""
    if record.state != UNGRADED:
        record.points = round(repair.points + diagnosis.points, 4)
    return record


def _state(repair: str, diagnosis: str) -> str:
    """Return the repair's state; "not attempted" only when the diagnosis was not attempted either."""
    if repair != "not attempted" or diagnosis == "not attempted":
        return repair
    return "wrong"
