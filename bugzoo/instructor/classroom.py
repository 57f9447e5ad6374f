"""A whole class: each submission by itself in the sandbox, its result kept as it comes.

Whatever is in a submission, the others are graded. Stopped half-way, the next call goes on where this one was.
"""

from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from pathlib import Path

from bugzoo.errors import UserError
from bugzoo.grading.model import Result
from bugzoo.instructor import diagnosis_cell
from bugzoo.instructor import records as store
from bugzoo.instructor.folder import FILE, FOLDER
from bugzoo.instructor.lms import intake
from bugzoo.instructor.lms.intake import Handed
from bugzoo.instructor.records import UNGRADED, Record
from bugzoo.instructor.submission import Submission, shown
from bugzoo.instructor.tasks import Task, program_of
from bugzoo.running.cluster import GAVE_UP
from bugzoo.running.pool import run_all
from bugzoo.syntax import parse

Progress = Callable[[int, int], None]


def grade_class(
    folder: Path,
    task: Task,
    results: Path,
    progress: Progress | None = None,
    workers: int | None = None,
    fresh: bool = False,
    trust: bool = False,
    executor: Executor | None = None,
) -> list[Record]:
    """Grade every submission in a folder or zip; records in alphabetical order, those who handed nothing in at the end.

    Raises UserError for what `collect` and `grade_handed` refuse; the latter tells of the options.
    """
    return grade_handed(collect(folder, task), task, results, progress, workers, fresh, trust, executor)


def grade_handed(
    handed: Handed,
    task: Task,
    results: Path,
    progress: Progress | None = None,
    workers: int | None = None,
    fresh: bool = False,
    trust: bool = False,
    executor: Executor | None = None,
) -> list[Record]:
    """Grade what was collected.

    `results` keeps one JSON file a student, written as each is done; what is there already, for the same file and the same
    key, is not graded again unless `fresh`. `trust` grades on where there is no sandbox.
    `executor`: other machines instead of `workers` here, such as a Dask cluster's. Raises UserError where the sandbox
    cannot be set up. Ctrl-C ends what is running and raises.
    """
    found = handed.found
    if not trust:
        diagnosis_cell.check_sandbox()
    store.make(results)
    by = task.fingerprint()
    known = {} if fresh else {one.student: store.kept(results, one, by) for one in found}
    records = {name: record for name, record in known.items() if record}
    tries = {one.student: store.earlier(results, one) for one in found if one.student not in records}
    todo = [one for one in found if one.student not in records]
    if progress:
        progress(len(records), len(found))

    def tell(_: int, record: Record) -> None:  # after Ctrl-C no more: a run that it ended says nothing about its author
        record.tries = tries[record.student]
        store.keep(results, record)
        records[record.student] = record
        if progress:
            progress(len(records), len(found))

    grade = partial(grade_one, task=task, by=by, strict=not trust)
    gone = partial(lost_one, task=task, by=by)
    run_all(grade, todo, executor=executor, workers=workers, on_done=tell, on_lost=gone)
    for one in found:  # how the author was found may be another way than in an earlier call
        record = records[one.student]
        record.place, record.matched, record.unmatched = one.place, one.matched, one.unmatched
        record.timestamp, record.clock = one.timestamp, one.clock
    absent = sorted(name for name in task.people if name not in records)
    return [records[one.student] for one in found] + [intake.absent(name, handed, task.max_points) for name in absent]


def collect(source: Path, task: Task, system: str | None = None) -> Handed:
    """What the class handed in, matched to the people of `task`. Raises UserError for a place that holds no submission."""
    if not source.is_dir() and not source.is_file():
        raise UserError(f"{source} is no folder and no zip; name the one that holds the submissions.")
    if (source / FOLDER / FILE).exists():
        raise UserError(
            f"{source} is the assignment itself, with its answer key; name the folder in which the class handed in, such as "
            f"{source / 'submitted'}."
        )
    handed = intake.collect(source, task.name, task.original(), task.people, system)
    if not handed.found:
        raise UserError(
            f"{source} holds no submission: no folder of a student and no .ipynb file. nbgrader's layout is "
            f"<student>/{task.name}/{task.name}.ipynb."
        )
    return handed


def blank(one: Submission, task: Task, by: str, why: str) -> Record:
    """What is known of a submission before it is graded, and why it cannot be."""
    record = Record(one.student, UNGRADED, None, task.max_points, why, list(one.notes), by=by)
    record.file, record.timestamp, record.digest = shown(one.handed or one.path or ""), one.timestamp, one.digest
    record.clock = one.clock
    record.place, record.matched, record.unmatched = one.place, one.matched, one.unmatched
    return record


def lost_one(one: Submission, task: Task, by: str) -> Record:
    """Of a submission of which every worker of the cluster was lost that had it; the next call tries it again."""
    return blank(one, task, by, f"the grader failed: {GAVE_UP}")


def grade_one(one: Submission, task: Task, by: str, strict: bool) -> Record:
    """Never raises for what is in a submission."""
    record = blank(one, task, by, one.problem)
    if one.problem:
        return record
    try:
        owner, note = task.owner(one.student, one.tag)
        source = program_of(one, task, owner)
        record.notes += [said for said in (note, task.looks(one.student, source)) if said]
        records, trouble = task.said(one.answer, strict)
        record.said = [form for form in records if form.get("cause") or form.get("run")]
        diagnosis = task.diagnosis(owner, records)
        if diagnosis and diagnosis.status == "not attempted" and trouble:
            diagnosis.status, diagnosis.message = "your code raised", trouble
        repair = task.repair(owner, source, records, strict)
        if repair and repair.status == UNGRADED and no_python(source):
            repair.status = "your code raised"  # nothing of it is the machine's or the file's fault
    except Exception as error:  # a file can be strange in ways that nobody thought of; the class goes on
        record.message = f"the grader failed: {type(error).__name__}: {error}"[:300]
        return record
    record.repair, record.diagnosis = repair and repair.to_json(), diagnosis and diagnosis.to_json()
    record.state = _state(repair, diagnosis)
    first = repair or diagnosis
    record.message = first.message if first and first.status != "passed" else ""
    if record.state != UNGRADED:
        record.points = round(sum(part.points for part in (repair, diagnosis) if part), 4)
    else:  # nbgrader has no state in which there is no score
        named = (("repair", repair), ("diagnosis", diagnosis))
        theirs = " and ".join(f"{part.points:g} points for the {name}" for name, part in named if part)
        record.notes.append(f"no score, where nbgrader's autograde gives {theirs}")
    return record


def no_python(source: str) -> bool:
    """Does Python's parser refuse the text?"""
    try:
        parse(source)
    except (SyntaxError, ValueError):
        return True
    return False


def _state(repair: Result | None, diagnosis: Result | None) -> str:
    """The repair's own state; without one, "not attempted" only when nothing was said either. Where one is asked, its own."""
    asked = [part.status for part in (repair, diagnosis) if part]
    if len(asked) == 1 or asked[0] != "not attempted" or asked[1] == "not attempted":
        return asked[0]
    return "wrong"
