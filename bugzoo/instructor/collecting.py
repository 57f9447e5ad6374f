"""The hand-ins of a class: found in a folder, read as data, and matched to the class where there is a list of it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bugzoo.errors import UserError
from bugzoo.instructor import hand_in_map, roster
from bugzoo.instructor.folder import FILE, FOLDER
from bugzoo.instructor.matching import match
from bugzoo.instructor.roster import Student
from bugzoo.instructor.submission import Submission, find, once_each, read
from bugzoo.instructor.tasks import Gradable


def collect(
    folder: Path,
    task: Gradable,
    students: Sequence[Student] = (),
    mapped: Mapping[str, str] | None = None,
    unmatched: bool = False,
) -> list[Submission]:
    """Return one submission per student who handed in, and with `unmatched` also those of unknown students.

    The class is `students` and those in the assignment's manifest. Without a list every file is a student. `mapped`:
    hand-in -> student. Raises UserError for a folder without a submission, for a map that does not fit, and, unless
    `unmatched`, for hand-ins and students that are left over.
    """
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder. Name the folder that holds the submissions.")
    if (folder / FOLDER / FILE).exists():
        advice = f"Name the folder of submissions, such as {folder / 'submitted'}."
        raise UserError(f"{folder} is the assignment itself, with its answer key. {advice}")
    hand_ins = find(folder, task.name)
    if not hand_ins:
        problem = f"{folder} has no submissions: no student folder and no .ipynb file."
        raise UserError(f"{problem} nbgrader's layout is <student>/{task.name}/{task.name}.ipynb.")
    original, people = task.original(), roster.of(students, task.people)
    hand_ins = hand_in_map.apply(hand_ins, mapped or {}, folder, {entry.id for entry in people})
    hand_ins = [read(entry, original) for entry in hand_ins]
    if not people:
        return once_each([replace(entry, student=entry.mapped or entry.student) for entry in hand_ins])
    matches = match(hand_ins, people, task.drawn(), task.name)
    if not unmatched:
        matches.refuse()
    return matches.all()
