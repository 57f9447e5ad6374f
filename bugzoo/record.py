"""A learner's record: attempts, interviews, the latest hints and quick checks, and the history of each ticket.

It is one SQLite file, `record.sqlite`, in the user's data folder or in `$BUGZOO_DATA`. It never leaves this machine.
Several processes may use it at once. If it cannot be written, a lesson continues: a message is printed once.
"""

import contextlib
import json
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from platformdirs import user_data_path

from bugzoo.errors import UserError

VERSION = 4
"""Version of the tables, stored in SQLite's own `user_version`. A change adds a step to `_upgrade`."""

OLDEST = 4
"""The oldest version that is read: earlier ones were never published."""

NOTES = ("started", "listening", "looked", "hypothesis", "opened", "diagnosis", "repair")
"""Kinds of notes on a ticket: started, the page's observer listens, a view looked at, a hypothesis, the program opened, a
submitted diagnosis, a graded repair."""

STATUS = ("open", "finished", "time over", "given up", "abandoned")
"""The possible states of an interview."""

_TABLES = """
create table attempts (at real not null, exercise text not null, kind text not null, status text not null,
    points real not null, most real not null);
create table kept (kind text not null, key text not null, at real not null, value text not null, primary key (kind, key));
create table interviews (id integer primary key, started real not null, minutes real not null, ticket text not null,
    seed integer not null, folder text not null, status text not null, points real, possible real, result text);
create table notes (at real not null, ticket text not null, kind text not null, value text not null);
"""

_INTERVIEW = "started, minutes, ticket, seed, folder, status, points, possible, result"

_WAIT = 20
"""Seconds to wait for other processes' transactions. Each takes milliseconds, and longer on a busy machine."""

_told: set[str] = set()


def folder() -> Path:
    """Return `$BUGZOO_DATA`, else this system's data folder for the user."""
    return Path(os.environ.get("BUGZOO_DATA") or user_data_path("bugzoo", appauthor=False))


def path() -> Path:
    """Return the path of the file, which may not exist yet."""
    return folder() / "record.sqlite"


# ---- attempts at exercises


def attempt(exercise: str, kind: str, status: str, points: float, most: float) -> bool:
    """Store an attempt at the `kind` (repair, diagnosis, five) of an exercise. False if it does not count or cannot be stored."""
    if status in ("cannot be graded", "not attempted") or _graders():
        return False
    row = (time.time(), exercise, kind, status, points, most)
    return _quietly("insert into attempts values (?, ?, ?, ?, ?, ?)", row)


def standing() -> dict[str, dict[str, Any]]:
    """Return exercise -> {"attempts", "best", "passed"} of its repairs, or of the answers to a *five*.

    Raises UserError if the file cannot be read.
    """
    rows = _read(
        "select exercise, count(*), max(points), max(status = 'passed') from attempts where kind in ('repair', 'five') "
        "group by exercise"
    )
    return {name: {"attempts": count, "best": best, "passed": bool(passed)} for name, count, best, passed in rows}


def forget(exercise: str, ticket: str = "") -> None:
    """Delete an exercise's attempts, and the notes and hints of its ticket and forms, as if it had never been started."""
    _unwritten[:] = [row for row in _unwritten if row[1].partition("/")[0] != ticket]
    if _there():
        _quietly("delete from attempts where exercise = ?", (exercise,))
        _quietly("delete from notes where ticket = ? or ticket like ? || '/%'", (ticket, ticket))
        _quietly("delete from kept where kind = 'hints' and key = ?", (ticket,))


# ---- the history of a ticket, in order: it outlives the kernel


def note(ticket: str, kind: str, value: dict[str, Any]) -> bool:
    """Add a note of a kind in NOTES. False if it cannot be written: `notes` then has it only in this process."""
    if kind not in NOTES:
        raise ValueError(f"{kind!r} is not a kind of note; use one of {', '.join(NOTES)}")
    row = (time.time(), ticket, kind, json.dumps(value))
    if not _graders() and _quietly("insert into notes values (?, ?, ?, ?)", row):
        return True
    _unwritten.append(row)
    return False


def notes(ticket: str, kind: str = "") -> list[dict[str, Any]]:
    """Return the notes of a ticket, oldest first: each value with its `kind` and `at` (seconds since 1970)."""
    stored: list[tuple[Any, ...]] = []
    if not _graders():
        try:
            stored = _read("select at, ticket, kind, value from notes where ticket = ? order by rowid", (ticket,))
        except UserError as error:
            remark(error)
    rows = [*stored, *(row for row in _unwritten if row[1] == ticket)]
    return [{**json.loads(value), "kind": what, "at": at} for at, _, what, value in rows if kind in ("", what)]


def looked(ticket: str) -> list[str]:
    """Return the views noted as `{"view": name}`, each once, in order of the first look."""
    return list(dict.fromkeys(str(note["view"]) for note in notes(ticket, "looked")))


def diagnosis(ticket: str) -> dict[str, Any] | None:
    """Return the diagnosis that was submitted last, None without one."""
    return (notes(ticket, "diagnosis") or [None])[-1]


def first_diagnosis(ticket: str) -> dict[str, Any] | None:
    """Return the first complete diagnosis of a ticket, None without one. Forms without parts are always complete."""
    return (first_diagnoses((ticket,)) or [None])[0]


def first_diagnoses(tickets: Sequence[str]) -> list[dict[str, Any]] | None:
    """Return what stood in each of these forms when all were complete for the first time; None before that."""
    handed_in = [
        (form, ticket) for ticket in tickets for form in notes(ticket, "diagnosis") if form.get("complete", True)
    ]
    held: dict[str, dict[str, Any]] = {}
    for form, ticket in sorted(handed_in, key=lambda pair: pair[0]["at"]):
        held[ticket] = form
        if len(held) == len(tickets):
            return [held[ticket] for ticket in tickets]
    return None


def opened() -> list[dict[str, Any]]:
    """Return {"exercise", "program"} for each ticket that was started and has no complete diagnosis.

    A ticket with two findings also has {"forms": 2}: both have to be complete.
    """
    try:
        rows = _read(
            "select value from notes where kind = 'started' and (select count(distinct other.ticket) from notes as other "
            "where other.kind = 'diagnosis' and other.ticket in (notes.ticket, notes.ticket || '/1', notes.ticket || '/2') "
            "and coalesce(json_extract(other.value, '$.complete'), 1)) < coalesce(json_extract(notes.value, '$.forms'), 1)"
        )
    except UserError as error:
        remark(error)
        return []
    return [json.loads(value) for (value,) in rows]


def _graders() -> bool:
    """Return whether nbgrader runs this: a student's notebook must neither write to this record nor read it."""
    return bool(os.environ.get("NBGRADER_EXECUTION"))


_unwritten: list[tuple[float, str, str, str]] = []
"""Notes of this process that could not be written to the file."""


# ---- the latest of each: hints opened, quick checks answered


def keep(kind: str, key: str, value: dict[str, Any]) -> bool:
    """Store the latest `value` under (kind, key). False if it cannot be written: a lesson continues without it."""
    return _quietly("insert or replace into kept values (?, ?, ?, ?)", (kind, key, time.time(), json.dumps(value)))


def kept(kind: str, key: str) -> dict[str, Any] | None:
    """Return the value that `keep` stored last, None if it is missing or unreadable."""
    try:
        rows = _read("select value from kept where kind = ? and key = ?", (kind, key))
    except UserError as error:
        remark(error)
        return None
    return json.loads(rows[0][0]) if rows else None


# ---- interviews: a row is written at the start, and completed at any end


def start_interview(ticket: str, seed: int, minutes: float, place: Path) -> int:
    """Add an open row, which does not name the fault, and return its number. Raises UserError."""
    with _open() as connection:
        cursor = connection.execute(
            "insert into interviews (started, minutes, ticket, seed, folder, status) values (?, ?, ?, ?, ?, 'open')",
            (time.time(), minutes, ticket, seed, str(place)),
        )
        return int(cursor.lastrowid or 0)


def end_interview(number: int, status: str, result: dict[str, Any]) -> None:
    """Complete a row. `result` is the JSON of the report. Raises UserError."""
    with _open() as connection:
        connection.execute(
            "update interviews set status = ?, points = ?, possible = ?, result = ? where id = ?",
            (status, result.get("points"), result.get("of"), json.dumps(result), number),
        )


def interviews() -> list[dict[str, Any]]:
    """Return all interviews, oldest first. One that never ended counts as abandoned after an hour. Raises UserError."""
    entries = _read(f"select id, {_INTERVIEW} from interviews order by id")
    names: list[str] = ["id", *_INTERVIEW.split(", ")]
    rows = [dict(zip(names, values, strict=True)) for values in entries]
    for row in rows:
        row["result"] = json.loads(row["result"]) if row["result"] else None
        if row["status"] == "open" and time.time() > row["started"] + 60 * row["minutes"] + 3600:
            row["status"] = "abandoned"
    return rows


# ---- where it cannot be written


def remark(error: UserError) -> None:
    """Print once per process that something is not saved. On stdout: a graded cell that writes to stderr gets 0 points."""
    if str(error) not in _told:
        _told.add(str(error))
        print(f"Your progress is not saved, everything else works: {error}")


# ---- the file


def _there() -> bool:
    return path().exists()


def _read(query: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return rows, [] if the file does not exist. Reading never creates it."""
    if not _there():
        return []
    with _open() as connection:
        return connection.execute(query, values).fetchall()


def _quietly(statement: str, values: tuple[Any, ...]) -> bool:
    try:
        with _open() as connection:
            connection.execute(statement, values)
        return True
    except UserError as error:
        remark(error)
        return False


@contextlib.contextmanager
def _open() -> Iterator[sqlite3.Connection]:
    """Open a connection inside one transaction: all of it or nothing. Raises UserError for any failure.

    It uses the rollback journal. A write-ahead log does not work on network disks, where home folders often are.
    """
    try:
        path().parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path(), timeout=_WAIT, isolation_level=None)
        try:
            _upgrade(connection)
            connection.execute("begin")
            yield connection
            connection.execute("commit")
        finally:
            connection.close()  # rolls back an uncommitted transaction
    except (sqlite3.Error, OSError) as error:
        raise UserError(
            f"Your record {path()} cannot be used: {error}. Move it away to start a new one, or set $BUGZOO_DATA to "
            "another folder."
        ) from None


def _upgrade(connection: sqlite3.Connection) -> None:
    """Make missing tables. Two processes may do this at the same time."""
    if _version(connection) == VERSION:
        return
    connection.execute("begin immediate")
    version = _version(connection)
    if version > VERSION:
        raise UserError(
            f"Your record {path()} was written by a newer bugzoo (version {version}; this one reads up to {VERSION}). "
            "Install the newer one, or set $BUGZOO_DATA to another folder."
        )
    if 0 < version < OLDEST:
        raise UserError(
            f"Your record {path()} was written by an early bugzoo (version {version}; this one reads from {OLDEST} on). Move "
            "it away to start a new one, or set $BUGZOO_DATA to another folder."
        )
    if version == 0:
        for statement in filter(str.strip, _TABLES.split(";")):
            connection.execute(statement)
    connection.execute(f"pragma user_version = {VERSION}")
    connection.execute("commit")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("pragma user_version").fetchone()[0])
