"""Grading a whole class: each submission runs alone in the sandbox, and each result is saved at once.

A broken submission does not stop the others. After an interruption, the next call continues where this one stopped.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from pathlib import Path

from bugzoo.errors import UserError
from bugzoo.grading import drawing
from bugzoo.grading.model import FOR_A_PERSON
from bugzoo.grading.program import join
from bugzoo.grading.set_aside import noted, set_aside
from bugzoo.instructor import diagnosis_cell, form_records, roster
from bugzoo.instructor import records as store
from bugzoo.instructor import submission as handed_in
from bugzoo.instructor.collecting import collect
from bugzoo.instructor.records import MISSING, UNGRADED, Record
from bugzoo.instructor.roster import Student
from bugzoo.instructor.submission import Submission
from bugzoo.instructor.tasks import Gradable
from bugzoo.running import run_all
from bugzoo.scenario import with_settings

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
    students: Sequence[Student] = (),
    mapped: Mapping[str, str] | None = None,
    unmatched: bool = False,
    zero: bool = False,
    allow: Sequence[str] = (),
    draw: int | None = None,
) -> list[Record]:
    """Grade every submission in `folder`. Return records in alphabetical order, missing submissions last.

    Where the class is known, from `students` or the assignment's manifest, each hand-in is matched to a student first.
    `mapped` (hand-in -> student) decides before names. Unless `unmatched`, a hand-in or student left over is a UserError
    with all of them, and nothing is graded. `zero`: a hand-in that cannot be graded by its own fault gets 0 points.
    A hand-in outside plain PyTorch is not run: it is for a person, who adds the points of its diagnosis, which is graded.
    So is one that passes and decides something by a counter. `allow`: names that hand-ins may use besides; only those that
    were set aside are graded again then, and what is graded stays so.
    `draw`: the number that says which steps are compared; one number for the class, drawn now unless given.

    `results` holds one JSON file per student, written as soon as it is graded. A result for the same file and key is
    reused unless `fresh`. With `trust` it grades even without a sandbox.
    `executor`: other machines instead of `workers` here, such as a Dask cluster's. Raises UserError for a folder
    without a submission, or when the sandbox cannot be set up. Ctrl-C ends the running jobs and raises.
    """
    hand_ins = collect(folder, task, students, mapped, unmatched)
    if not trust:
        diagnosis_cell.check_sandbox()
    store.make(results)
    by = task.fingerprint() + (f" {draw}" if draw is not None else "")
    cached = {} if fresh else {entry.student: store.kept(results, entry, by) for entry in hand_ins}
    records = {name: record for name, record in cached.items() if record and not (allow and record.aside)}
    todo = [entry for entry in hand_ins if entry.student not in records]
    if progress:
        progress(len(records), len(hand_ins))

    def tell(_: int, record: Record) -> None:  # not after Ctrl-C: a run that it ended says nothing about the student
        record = store.clean(record)
        store.keep(results, record)
        records[record.student] = record
        if progress:
            progress(len(records), len(hand_ins))

    grade = partial(_grade, task=task, by=by, strict=not trust, allow=tuple(allow), draw=drawing.number(draw))
    run_all(grade, todo, executor=executor, workers=workers, on_done=tell)
    absent = [entry.id for entry in roster.of(students, task.people) if entry.id not in records]
    missing = [Record(name, MISSING, 0.0, task.max_points) for name in sorted(absent)]
    return [_scored(records[entry.student], zero) for entry in hand_ins] + missing


def _scored(record: Record, zero: bool) -> Record:
    """Return the record, with points also where the hand-in itself could not be graded if `zero`."""
    if not (zero and record.state == UNGRADED and record.broken):
        return record
    earned = (record.diagnosis or {}).get("points", 0.0)  # a syntax error in the program spoils no diagnosis
    return replace(record, points=float(earned))


def _grade(one: Submission, task: Gradable, by: str, strict: bool, draw: int, allow: Sequence[str] = ()) -> Record:
    """Grade one submission. Nothing in it makes this raise."""
    record = Record(one.student, UNGRADED, None, task.max_points, one.problem, [*one.upload_notes, *one.notes], by=by)
    record.file, record.timestamp, record.digest = handed_in.shown(one.path or ""), one.timestamp, one.digest
    record.broken, record.upload_notes = one.broken, list(one.upload_notes)
    if one.problem:
        return record
    try:
        owner, note = task.owner(one.student, one.tag)
        record.notes += [note] if note else []
        source, handed_out = join(one.sections), task.handed_out(owner)
        aside = set_aside(source, handed_out, allow)
        record.notes += [sentence] if allow and not aside and (sentence := noted(source, handed_out)) else []
        answers, odd = form_records.latest(one.forms, task.ticket(owner))
        records, trouble = diagnosis_cell.records(one.answer, answers, strict=strict)
        record.notes += odd + diagnosis_cell.overridden(answers, records)
        diagnosis = task.diagnosis(owner, records)
        if diagnosis.status == "not attempted" and trouble:
            diagnosis.status, diagnosis.message = "your code raised", trouble
        repair = aside or task.repair(owner, source, records, strict, draw)
    except Exception as error:  # a file can be odd in ways that no test foresaw; the class continues
        record.message = f"the grader failed: {type(error).__name__}: {error}"[:300]
        return record
    record.repair, record.diagnosis = None if aside else repair.to_json(), diagnosis.to_json()
    record.state = _state(repair.status, diagnosis.status)
    record.message = repair.message if repair.status != "passed" else ""
    record.broken = record.state == UNGRADED and _invalid(source)
    if record.state in (FOR_A_PERSON, UNGRADED):
        record.notes.append(f"the diagnosis earned {diagnosis.points:g} of {diagnosis.max_points:g} points")
    else:
        record.points = round(repair.points + diagnosis.points, 4)
    return record


def _invalid(source: str) -> bool:
    """Return whether the grader cannot run the program at all: a syntax error, or no `seed` to set."""
    try:
        with_settings(source, {"seed": 0}, "the program")
    except (UserError, SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    return False


def _state(repair: str, diagnosis: str) -> str:
    """Return the repair's state; "not attempted" only when the diagnosis was not attempted either."""
    if repair != "not attempted" or diagnosis == "not attempted":
        return repair
    return "wrong"
