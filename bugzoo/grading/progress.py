"""How far a learner is, in one small SQLite file. An attempt that could not be graded costs none."""

import contextlib
import os
import sqlite3
import time
from pathlib import Path
from typing import Any

from bugzoo.grading.model import Result

_TABLE = (
    "create table if not exists tried (at real not null, exercise text not null, kind text not null, "
    "status text not null, points real not null, most real not null)"
)


def path() -> Path:
    """`$BUGZOO_EXERCISES`, else `bugzoo/exercises.sqlite` in the user's data folder."""
    if given := os.environ.get("BUGZOO_EXERCISES"):
        return Path(given)
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "bugzoo" / "exercises.sqlite"


def keep(exercise: str, kind: str, result: Result) -> bool:
    """Note an attempt. False where nothing can be written: the exercise goes on without."""
    if result.status in ("cannot be graded", "not attempted") or os.environ.get("NBGRADER_EXECUTION"):
        return False
    with contextlib.suppress(OSError, sqlite3.Error):
        path().parent.mkdir(parents=True, exist_ok=True)
        with contextlib.closing(sqlite3.connect(path(), timeout=5)) as connection, connection:
            connection.execute(_TABLE)
            row = (time.time(), exercise, kind, result.status, result.points, result.max_points)
            connection.execute("insert into tried values (?, ?, ?, ?, ?, ?)", row)
        return True
    return False


def standing() -> dict[str, dict[str, Any]]:
    """exercise -> {"attempts", "best", "passed"} of its repairs."""
    if not path().exists():
        return {}
    with contextlib.closing(sqlite3.connect(path(), timeout=5)) as connection:
        connection.execute(_TABLE)
        rows = connection.execute(
            "select exercise, count(*), max(points), max(status = 'passed') from tried where kind = 'repair' group by exercise"
        ).fetchall()
    return {name: {"attempts": count, "best": best, "passed": bool(passed)} for name, count, best, passed in rows}


def forget(exercise: str) -> None:
    """Take an exercise's attempts away."""
    if path().exists():
        with contextlib.closing(sqlite3.connect(path(), timeout=5)) as connection, connection:
            connection.execute(_TABLE)
            connection.execute("delete from tried where exercise = ?", (exercise,))
