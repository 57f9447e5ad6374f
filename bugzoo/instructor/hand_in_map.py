"""`--map`: a CSV file in which the instructor says whose a hand-in is. It wins over names, numbers and notebooks.

hand_in,student
Ada King_100200_assignsubmission_file_,ada
team 7/week_5.ipynb,ben
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bugzoo.errors import UserError
from bugzoo.instructor import roster
from bugzoo.instructor.submission import Submission, shown

COLUMNS = ("hand_in", "student")


def read(path: Path, folder: Path) -> dict[str, str]:
    """Return hand-in (its path below `folder`) -> student. Raises UserError with the line of an invalid entry."""
    rows, columns = roster.table(path)
    named = {str(column).strip().lower(): column for column in columns if column}
    if not all(column in named for column in COLUMNS):
        problem = f"{path} is not a map: its first line is {', '.join(map(str, columns)) or 'empty'}."
        raise UserError(f"{problem} Begin it with the line {','.join(COLUMNS)}, then write one hand-in a line.")
    students: dict[str, str] = {}
    for line, row in enumerate(rows, 2):
        name, student = (str(row[named[column]] or "").strip() for column in COLUMNS)
        if not name or not student:
            raise UserError(f"{path}, line {line}: {name or student!r} has no partner. Write {','.join(COLUMNS)}.")
        name = _below(name, folder)
        for hand_in, of in students.items():
            if student == of or f"{name}/".startswith(f"{hand_in}/") or f"{hand_in}/".startswith(f"{name}/"):
                raise UserError(f"{path}, line {line}: {hand_in} is already given to {of}. Keep the line that counts.")
        students[name] = student
    return students


def _below(name: str, folder: Path) -> str:
    """Return a path as it is below the folder of hand-ins; a shell completes it with that folder in front."""
    here = Path(name)
    return (here.relative_to(folder) if here.is_relative_to(folder) else here).as_posix()


def apply(
    found: Sequence[Submission], mapped: Mapping[str, str], folder: Path, known: Collection[str]
) -> list[Submission]:
    """Return the hand-ins, those in the map with their student. A map may also name one notebook inside a folder.

    `known`: the class, if there is a list of it. Raises UserError for a hand-in or a student that does not exist.
    """
    left = {hand_in.entry: hand_in for hand_in in found}
    escaped = {shown(entry): entry for entry in left}
    taken: list[Submission] = []
    for name, student in mapped.items():
        if known and student not in known:
            raise UserError(f"The map gives {name} to {student}, who is not in the class list. Write a student's id.")
        entry, _, inside = name.partition("/")
        entry = escaped.get(entry, entry)
        if entry not in left and not (inside and any(hand_in.entry == entry for hand_in in taken)):
            raise UserError(f"The map names {name}, and {folder} has no such hand-in. `ls {folder}` shows their names.")
        if not inside:
            taken.append(replace(left.pop(entry), mapped=student))
            continue
        path = folder / entry / inside
        if ".." in path.parts or path.suffix != ".ipynb" or not path.is_file() or path.is_symlink():
            raise UserError(f"The map names {name}, which is not a notebook in {folder}.")
        left.pop(entry, None)
        taken.append(Submission(shown(entry), path, entry=entry, notebook=path.stem, mapped=student))
    return sorted([*left.values(), *taken], key=lambda one: (one.entry, str(one.path)))
