"""Who is in the class: a CSV with a header, as nbgrader and most offices export it, or as Canvas and Moodle do."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bugzoo.errors import UserError
from bugzoo.instructor.lms import sheet
from bugzoo.instructor.submission import shown

_IDS = ("student_id", "id", "student", "login", "username")
_OTHER_IDS = (*_IDS, "sid", "student id", "id number", "sis user id", "sis login id", "matriculation")
_EMAILS = ("email", "email address", "e-mail", "e-mail address")
_WORDS = {
    "last_name": ("last_name", "last name", "surname", "family name"),
    "first_name": ("first_name", "first name", "given name"),
    "name": ("name", "full name", "full_name", "student name", "student_name"),
    "email": _EMAILS,
    "canvas": ("canvas", "canvas_id", "canvas id"),
    "moodle": ("moodle", "moodle_id", "moodle id"),
}
_SAFE = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._@-]{0,99}$")


@dataclass(frozen=True)
class Student:
    """One row. Where `id` names folders it holds letters, digits and `. _ @ -` only."""

    id: str
    last_name: str = ""
    first_name: str = ""
    email: str = ""
    name: str = ""
    """As it is shown, where first and last name are not told apart."""
    canvas: str = ""
    """Canvas's own number."""
    moodle: str = ""
    """The number of the participant in Moodle's assignment."""
    others: tuple[str, ...] = ()
    """Further ids that a hand-in may be called by."""


def read(path: Path, folders: bool = True, encoding: str | None = None) -> list[Student]:
    """The students of a roster, in its order. Raises UserError, with the line, for what cannot be used.

    `folders`: folders will be named after the ids. `encoding` is told where the file is in none of UTF-8, UTF-16 and
    Windows-1252. Commas, semicolons and tabs part cells.
    """
    table = sheet.read(path, encoding)
    return list(rows(table, folders).values())


def numbered(count: int) -> list[Student]:
    """Variants that nobody is named for: `variant-001`, `variant-002`, ... Whose a hand-in is, its notebook says."""
    width = max(3, len(str(count)))
    return [Student(f"variant-{number:0{width}}") for number in range(1, count + 1)]


def rows(table: sheet.Sheet, folders: bool = False) -> dict[int, Student]:
    """Row -> student of a table. Raises UserError, with the line, for what cannot be used."""
    named = {column.lower(): at for at, column in reversed(list(enumerate(table.header)))}
    make = _canvas(table, named) or _moodle(table, named) or _plain(table, named)
    found: dict[int, Student] = {}
    lines: dict[str, int] = {}
    for row in range(1, len(table.rows)):
        one = make(row)
        if one is None:
            continue
        if not (_SAFE.match(one.id) if folders else one.id and shown(one.id) == one.id and len(one.id) <= 200):
            rule = (
                "folders are named after it, so it holds letters, digits and . _ @ - and begins with a letter or a digit"
                if folders
                else "it is printable text of at most 200 characters"
            )
            raise UserError(f"{table.path}, line {_line(table, row)}: {one.id!r} cannot be a student's id; {rule}.")
        if one.id in lines:
            raise UserError(
                f"{table.path}, line {_line(table, row)}: {one.id} is there twice; the other is in line {lines[one.id]}."
            )
        found[row], lines[one.id] = one, _line(table, row)
    if not found:
        raise UserError(f"{table.path} names no student; it is empty below its first line.")
    return found


def _line(table: sheet.Sheet, row: int) -> int:
    """The number of a row's line in the file, from 1."""
    return table.text.count("\n", 0, table.spans[row][0][0]) + 1


def _cell(table: sheet.Sheet, row: int, at: int | None) -> str:
    return "" if at is None else table.cell(row, at).strip()


def _plain(table: sheet.Sheet, named: Mapping[str, int]) -> Any:
    at = {field: next((named[word] for word in words if word in named), None) for field, words in _WORDS.items()}
    keys = [named[word] for word in (*_IDS, *_OTHER_IDS) if word in named]
    key = next(iter(keys), at["email"])
    if key is None:
        raise UserError(
            f"{table.path} has no column for the student's id; its first line is {', '.join(table.header) or 'empty'}. "
            f"One of the columns is called {', '.join(_IDS[:-1])} or {_IDS[-1]}."
        )
    others = [one for one in dict.fromkeys(keys) if one != key]

    def make(row: int) -> Student:
        facts = {field: _cell(table, row, column) for field, column in at.items()}
        more = tuple(filter(None, (_cell(table, row, one) for one in others)))
        return Student(_cell(table, row, key), others=more, **facts)

    return make


def _canvas(table: sheet.Sheet, named: Mapping[str, int]) -> Any:
    """Canvas's gradebook: its login is the id where everybody has one of their own, else the office's, else its number."""
    if not {"student", "id", "section"} <= set(named):
        return None
    people = [row for row in range(1, len(table.rows)) if _cell(table, row, named["id"])]
    tried = [named[word] for word in ("sis login id", "sis user id") if word in named]
    full = [at for at in tried if len({_cell(table, row, at) for row in people} - {""}) == len(people)]
    key = full[0] if full else named["id"]

    def make(row: int) -> Student | None:
        name, number = _cell(table, row, named["student"]), _cell(table, row, named["id"])
        if row not in people or name.lower() == "student, test":
            return None  # points possible, remarks of Canvas's, its student for trying things
        last, _, first = name.partition(",")
        others = tuple(filter(None, (_cell(table, row, at) for at in tried)))
        email = next((one for one in others if "@" in one), "")
        both = {"last_name": last.strip(), "first_name": first.strip()} if first else {}
        return Student(_cell(table, row, key), email=email, name=name, canvas=number, others=others, **both)

    return make


def _moodle(table: sheet.Sheet, named: Mapping[str, int]) -> Any:
    """Moodle's grading worksheet: `Participant 123456`, in whatever language; the e-mail is the id where all have one."""
    numbers = {row: re.fullmatch(r"\D+(\d+)", _cell(table, row, 0)) for row in range(1, len(table.rows))}
    if not numbers or not all(numbers.values()) or not ({"identifier", "full name"} & set(named)):
        return None
    tried = [named[word] for word in ("id number", "email address", "username") if word in named]
    full = [at for at in tried if len({_cell(table, row, at) for row in numbers} - {""}) == len(numbers)]

    def make(row: int) -> Student:
        match = numbers[row]
        number = match[1] if match else ""
        others = tuple(filter(None, (_cell(table, row, at) for at in tried)))
        email, name = (_cell(table, row, named.get(word)) for word in ("email address", "full name"))
        return Student(_cell(table, row, full[0]) if full else number, "", "", email, name, "", number, others)

    return make


def merged(people: Mapping[str, Mapping[str, Any]], more: list[Student], add: bool = True) -> dict[str, dict[str, Any]]:
    """`people` (id -> facts) with what `more` knows of them; whoever is not among them joins them, if `add`."""
    from bugzoo.instructor.lms.handin import Who
    from bugzoo.instructor.lms.people import People

    found, asked = {id: dict(facts) for id, facts in people.items()}, People(people)
    for one in more:
        numbers = tuple((system, value) for system in ("canvas", "moodle") if (value := getattr(one, system)))
        names = tuple(filter(None, (one.name, f"{one.first_name} {one.last_name}".strip())))
        id, _ = asked.find(Who(names, (one.id, *one.others), one.email, numbers))
        if not id and add and one.id not in found:
            found[one.id] = vars(one)
        elif id:
            found[id] = vars(one) | {word: value for word, value in found[id].items() if value}
            found[id]["id"] = id
            found[id]["others"] = tuple(dict.fromkeys([*found[id].get("others", ()), one.id, *one.others]))
    return found
