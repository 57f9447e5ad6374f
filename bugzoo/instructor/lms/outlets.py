"""What `--to` asks for: each place is looked at before anything is graded, and filled in afterwards.

An outlet knows two things: the students that its file names, and how to write records into it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from bugzoo.errors import UserError, unknown
from bugzoo.files import check_place, write_atomic
from bugzoo.instructor.lms.handin import Who
from bugzoo.instructor.lms.people import People
from bugzoo.instructor.lms.sheet import Sheet, read
from bugzoo.instructor.records import ABSENT, Record
from bugzoo.instructor.roster import Student, merged
from bugzoo.instructor.tasks import Task

NAMES = ("canvas", "moodle", "gradescope", "nbgrader")


class Outlet(Protocol):
    def students(self) -> list[Student]:
        """Whom the place names; empty where it names nobody."""
        ...

    def write(self, records: Sequence[Record], people: Mapping[str, Mapping[str, Any]]) -> str:
        """Fill it in, and say in a sentence what was done. Raises UserError; nothing that was there is lost."""
        ...


def prepare(given: Sequence[str], task: Task, column: str | None = None) -> list[Outlet]:
    """The outlets of `canvas=FILE` and the like. Raises UserError for what could not be filled in afterwards."""
    from bugzoo.instructor.lms import canvas_out, gradescope_out, moodle_out, nbgrader_out

    makers = {
        "canvas": canvas_out.Gradebook, "moodle": moodle_out.Worksheet, "gradescope": gradescope_out.Folder,
        "nbgrader": nbgrader_out.Database,
    }  # fmt: skip
    found: list[Outlet] = []
    systems = {text.partition("=")[0] for text in given}
    for text in given:
        system, mark, place = text.partition("=")
        if not mark or not place.strip():
            raise UserError(f"--to {text!r} is not allowed; it is SYSTEM=PLACE, such as canvas=grades.csv.")
        if system not in makers:
            raise unknown("system", system, NAMES, "bugzoo grade --help")
        taken = (
            system == "canvas" or "canvas" not in systems
        )  # of the two that have columns, the one whose names differ
        found.append(makers[system](Path(place), task, column if taken else None))
    if column is not None and not {"canvas", "moodle"} & systems:
        raise UserError(f"--column {column!r} is for --to canvas=FILE or --to moodle=FILE; say that as well.")
    return found


def write(
    outlets: Sequence[Outlet], records: Sequence[Record], people: Mapping[str, Mapping[str, Any]]
) -> tuple[list[str], list[UserError]]:
    """(what was done, what failed): one place that cannot be written takes nothing from the others."""
    done, failed = [], []
    for outlet in outlets:
        try:
            done.append(outlet.write(records, people))
        except UserError as error:
            failed.append(error)
    return done, failed


def known(
    own: Mapping[str, Mapping[str, Any]], roster: list[Student], outlets: Sequence[Outlet]
) -> dict[str, dict[str, Any]]:
    """id -> facts of everybody: those of the assignment, of the roster, and what the outlets' files know of them.

    Where there is neither, the outlets' files are the roster.
    """
    people, add = merged(own, roster), not own and not roster
    for outlet in outlets:
        people = merged(people, outlet.students(), add)
    return people


def laid(
    records: Sequence[Record], people: Mapping[str, Mapping[str, Any]], rows: Mapping[int, Student]
) -> tuple[dict[int, Record], list[str]]:
    """(row -> record of its student, names of graded students who stand in no row or not clearly)."""
    by_id = {one.id: row for row, one in rows.items()}
    asked = {record.student: _who(record.student, people.get(record.student, {})) for record in records}
    there = People({one.id: vars(one) for one in rows.values()}, asked.values())
    found: dict[int, Record] = {}
    lost = []
    for record in records:
        id = "" if record.unmatched else there.find(asked[record.student])[0]
        if id and by_id[id] not in found:
            found[by_id[id]] = record
        elif record.state not in ABSENT:
            lost.append(record.student)
    return found, lost


def _who(student: str, facts: Mapping[str, Any]) -> Who:
    """Somebody of the roster, as hand-ins are asked for."""
    names = (str(facts.get("name") or ""), f"{facts.get('first_name', '')} {facts.get('last_name', '')}".strip())
    numbers = tuple((system, str(facts[system])) for system in ("canvas", "moodle") if facts.get(system))
    ids = (student, *facts.get("others", ()))
    return Who(tuple(filter(None, names)), ids, str(facts.get("email") or ""), numbers)


def number(text: str) -> float | None:
    """A number as people write it, with a point or a comma."""
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return None


def save(sheet: Sheet) -> None:
    """Write a filled sheet over its file; what was there before our columns were filled is kept as NAME.before.csv.

    That of another export is not overwritten: then it is NAME.before2.csv, and so on.
    """
    if not sheet.changed:
        return
    columns = {column for _, column in sheet.changed}
    for number_of in range(1, 1000):
        mark = "" if number_of == 1 else str(number_of)
        before = sheet.path.with_name(f"{sheet.path.stem}.before{mark}{sheet.path.suffix}")
        if not before.exists():
            write_atomic(before, sheet.path.read_bytes())
            break
        if _others(read(before), columns) == _others(sheet, columns):
            break
    write_atomic(sheet.path, sheet.data())


def _others(sheet: Sheet, columns: set[int]) -> list[list[str]]:
    """The cells of all columns but these."""
    return [[cell for at, cell in enumerate(row) if at not in columns] for row in sheet.rows]


def check(path: Path) -> None:
    """Raises UserError where the file and its copy could not be written."""
    check_place(path)
    check_place(path.with_name(f"{path.stem}.before{path.suffix}"))


def said(done: int, place: Path, replaced: int, lost: Sequence[str], more: str = "") -> str:
    """The sentence about what was filled in."""
    parts = [f"{done} score{'' if done == 1 else 's'} written to {place}{more}."]
    if replaced:
        parts.append(f"{replaced} of them replaced another one.")
    if lost:
        others = f" and {len(lost) - 10} more" if len(lost) > 10 else ""
        parts.append(f"Not in it: {', '.join(lost[:10])}{others}.")
    return " ".join(parts)
