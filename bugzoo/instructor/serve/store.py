"""Everything that a class's page keeps, in one SQLite file that several processes may write to.

`Store.open(folder)` is short-lived or long-lived as you like; each thread takes its own.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from bugzoo.errors import UserError
from bugzoo.instructor.records import UNGRADED, Record
from bugzoo.instructor.serve import database
from bugzoo.instructor.serve.database import now

RUNNING, DONE, STOPPED, FAILED = "running", "done", "stopped", "failed"


@dataclass(frozen=True)
class HandIn:
    """One file that somebody handed in; its bytes are read by `content`."""

    student: str
    label: str
    source: str
    """From where: `folder`, `upload`."""
    digest: str = ""
    bytes: int = 0
    file: str = ""
    handed_at: str = ""
    problem: str = ""
    notes: str = "[]"
    place: str = ""
    matched: str = ""
    unmatched: str = ""
    who: str = "{}"
    """What the LMS says of whoever handed in, as JSON: for those whom nobody on the roster fits."""
    at: str = ""
    by: str = ""
    withdrawn: str = ""
    id: int = 0


@dataclass(frozen=True)
class Job:
    """One grading of the class, or of one student."""

    id: int
    student: str
    fresh: int
    state: str
    done: int
    total: int
    message: str
    by: str
    at: str
    ended: str


_COLUMNS = ", ".join(field.name for field in fields(HandIn))
_LAST = "id IN (SELECT max(id) FROM handins WHERE withdrawn = '' GROUP BY student)"
"""Of each student, the one that came in last."""


class Store:
    """The database of one assignment's folder."""

    def __init__(self, path: Path) -> None:
        self.path, self.db = path, database.connect(path)

    @classmethod
    def open(cls, folder: Path) -> "Store":
        """That of an assignment's folder. Raises UserError where it cannot be opened."""
        return cls(folder / database.NAME)

    def close(self) -> None:
        self.db.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction, and SQLite's complaints as UserError."""
        with database.said(self.path), database.transaction(self.db):
            yield self.db

    def rows(self, query: str, *values: Any) -> list[sqlite3.Row]:
        with database.said(self.path):
            return self.db.execute(query, values).fetchall()

    def row(self, query: str, *values: Any) -> sqlite3.Row | None:
        found = self.rows(query, *values)
        return found[0] if found else None

    # -- the log -------------------------------------------------------------------------------------------------------

    def note(self, by: str, what: str, about: str = "") -> None:
        """A line of the log, which is only added to. Within `writing`, it stands and falls with the rest."""
        self.db.execute("INSERT INTO log (at, by, what, about) VALUES (?, ?, ?, ?)", (now(), by, what, about))

    def log(self, most: int = 500) -> list[sqlite3.Row]:
        """The last lines, newest first."""
        return self.rows("SELECT * FROM log ORDER BY id DESC LIMIT ?", most)

    # -- hand-ins ------------------------------------------------------------------------------------------------------

    def take(self, one: HandIn, content: bytes | None, by: str) -> bool:
        """Keep a hand-in; False where the last one of this name and source is the same file."""
        with self.writing() as db:
            query = "SELECT digest, problem FROM handins WHERE source = ? AND label = ? ORDER BY id DESC LIMIT 1"
            last = db.execute(query, (one.source, one.label)).fetchone()
            if last and (last["digest"], last["problem"]) == (one.digest, one.problem):
                return False
            given = asdict(one) | {"at": now(), "by": by, "content": content}
            del given["id"]
            names = ", ".join(given)
            db.execute(f"INSERT INTO handins ({names}) VALUES ({', '.join('?' * len(given))})", list(given.values()))
            self.note(by, "hand-in taken", f"{one.student}: {one.file or one.problem} {one.digest[:12]}".strip())
        return True

    def last(self) -> list[HandIn]:
        """What counts of each student, unmatched ones among them, in the order of their names."""
        return [_handin(one) for one in self.rows(f"SELECT {_COLUMNS} FROM handins WHERE {_LAST} ORDER BY student")]

    def of(self, student: str) -> list[HandIn]:
        """All hand-ins of one student, newest first."""
        query = f"SELECT {_COLUMNS} FROM handins WHERE student = ? ORDER BY id DESC"
        return [_handin(one) for one in self.rows(query, student)]

    def handin(self, number: int) -> HandIn | None:
        found = self.row(f"SELECT {_COLUMNS} FROM handins WHERE id = ?", number)
        return _handin(found) if found else None

    def content(self, number: int) -> bytes:
        """The bytes that were handed in; empty where none were kept."""
        found = self.row("SELECT content FROM handins WHERE id = ?", number)
        return found["content"] if found and found["content"] is not None else b""

    def withdraw(self, number: int, on: bool, by: str) -> None:
        """A hand-in that does not count, or counts again."""
        with self.writing() as db:
            db.execute("UPDATE handins SET withdrawn = ? WHERE id = ?", (now() if on else "", number))
            self.note(by, "hand-in set aside" if on else "hand-in counts again", f"number {number}")

    def assign(self, number: int, student: str, by: str) -> None:
        """Say whose an unmatched hand-in is."""
        with self.writing() as db:
            query = "UPDATE handins SET student = ?, unmatched = '', matched = ? WHERE id = ?"
            db.execute(query, (student, f"by hand ({by})", number))
            db.execute("DELETE FROM results WHERE handin = ?", (number,))  # graded as nobody's, with nobody's variant
            self.note(by, "hand-in given to a student", f"number {number}: {student}")

    # -- grading -------------------------------------------------------------------------------------------------------

    def begin(self, by: str, student: str = "", fresh: bool = False) -> int:
        """A new grading. Raises UserError where one is running."""
        try:
            with self.writing() as db:
                query = "INSERT INTO jobs (student, fresh, state, by, at) VALUES (?, ?, ?, ?, ?)"
                made = db.execute(query, (student, int(fresh), RUNNING, by, now())).lastrowid
                self.note(by, "grading again" if fresh else "grading", student or "everybody")
        except sqlite3.IntegrityError:
            raise UserError("A grading is running already; stop it first, or wait for its end.") from None
        return made or 0

    def job(self) -> Job | None:
        """The last grading."""
        found = self.row("SELECT * FROM jobs ORDER BY id DESC LIMIT 1")
        return Job(**dict(found)) if found else None

    def told(self, job: int, done: int, total: int) -> None:
        with self.writing() as db:
            db.execute("UPDATE jobs SET done = ?, total = ? WHERE id = ? AND state = 'running'", (done, total, job))

    def graded(self, job: int) -> int:
        """Hand-ins that this grading has graded."""
        found = self.row("SELECT count(*) AS number FROM results WHERE job = ?", job)
        return found["number"] if found else 0

    def end(self, job: int, state: str, message: str = "", by: str = "") -> None:
        """What became of a running grading; one that has ended stays as it is."""
        with self.writing() as db:
            query = "UPDATE jobs SET state = ?, message = ?, ended = ? WHERE id = ? AND state = 'running'"
            if db.execute(query, (state, message, now(), job)).rowcount:
                self.note(by or "bugzoo", f"grading {state}", message)

    def todo(self, job: Job, fingerprint: str) -> list[HandIn]:
        """What this grading has still to grade: not what it did, nor, unless it is fresh, what was graded by the same key."""
        query = f"""SELECT {_COLUMNS} FROM handins WHERE {_LAST} AND problem = '' AND (? = '' OR student = ?)
            AND id NOT IN (SELECT handin FROM results WHERE job = ?
                OR (? = 0 AND fingerprint = ? AND state != ?)) ORDER BY id"""
        values = (job.student, job.student, job.id, job.fresh, fingerprint, UNGRADED)
        return [_handin(one) for one in self.rows(query, *values)]

    def keep(self, handin: int, job: int, record: Record, picture: str = "") -> None:
        """The result of a hand-in and the picture of its run, in the place of earlier ones; not where it was given to somebody
        else meanwhile."""
        text = json.dumps(asdict(record), default=str)
        with self.writing() as db:
            owner = db.execute("SELECT student FROM handins WHERE id = ?", (handin,)).fetchone()
            if owner is None or owner["student"] != record.student:
                return
            db.execute(
                "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?, ?, ?)",
                (handin, job, record.by, record.state, record.points, text, now()),
            )
            db.execute("INSERT OR REPLACE INTO pictures VALUES (?, ?)", (handin, picture))

    def picture(self, handin: int) -> str:
        """HTML of ours with the run of a hand-in beside the healthy one; empty where none was drawn."""
        found = self.row("SELECT picture FROM pictures WHERE handin = ?", handin)
        return found["picture"] if found else ""

    def results(self) -> dict[int, tuple[Record, str]]:
        """hand-in -> (its result, when it was graded)."""
        found = self.rows("SELECT handin, record, at FROM results")
        return {one["handin"]: (Record(**json.loads(one["record"])), one["at"]) for one in found}

    # -- what instructors say --------------------------------------------------------------------------------------------

    def override(self, student: str, points: float | None, reason: str, by: str) -> None:
        """Other points than those of the grader; without points, the grader's count again. No grading changes it."""
        with self.writing() as db:
            query = "INSERT INTO overrides (student, points, reason, by, at) VALUES (?, ?, ?, ?, ?)"
            db.execute(query, (student, points, reason, by, now()))
            said = "taken back" if points is None else f"{points:g} points"
            self.note(by, "override", f"{student}: {said}; {reason}")

    def overrides(self, student: str | None = None) -> list[sqlite3.Row]:
        """All of a student, newest first; or, of everybody, the one that counts."""
        if student is not None:
            return self.rows("SELECT * FROM overrides WHERE student = ? ORDER BY id DESC", student)
        last = "SELECT max(id) FROM overrides GROUP BY student"
        return self.rows(f"SELECT * FROM overrides WHERE id IN ({last}) AND points IS NOT NULL")

    def comment(self, student: str, text: str, by: str) -> None:
        """The instructor's own words to a student; the last ones count."""
        with self.writing() as db:
            db.execute("INSERT INTO comments (student, text, by, at) VALUES (?, ?, ?, ?)", (student, text, by, now()))
            self.note(by, "feedback", f"{student}: {len(text)} characters")

    def comments(self, students: Iterable[str] | None = None) -> dict[str, sqlite3.Row]:
        """student -> the words that count."""
        found = self.rows("SELECT * FROM comments WHERE id IN (SELECT max(id) FROM comments GROUP BY student)")
        return {
            one["student"]: one for one in found if one["text"] and (students is None or one["student"] in students)
        }


def _handin(row: sqlite3.Row) -> HandIn:
    return HandIn(**dict(row))
