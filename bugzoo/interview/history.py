"""Past interviews in one small SQLite file."""

import contextlib
import json
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bugzoo.errors import UserError

STATUS = ("open", "finished", "time over", "given up", "abandoned")

_TABLE = """
create table if not exists interviews (
    id integer primary key, started real not null, minutes real not null, ticket text not null, seed integer not null,
    folder text not null, status text not null, points real, possible real, result text
)"""


def default_path() -> Path:
    """`$BUGZOO_HISTORY`, else `bugzoo/interviews.sqlite` in the user's data folder."""
    if given := os.environ.get("BUGZOO_HISTORY"):
        return Path(given)
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "bugzoo" / "interviews.sqlite"


class History:
    """A row is written when an interview starts and completed when it ends, whichever way it ends.

    What the case was is stored with its end only: an open row tells nothing.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or default_path()

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.path, timeout=10)
            try:
                with connection:  # one transaction: all of it or nothing
                    connection.execute(_TABLE)
                    yield connection
            finally:
                connection.close()
        except (sqlite3.Error, OSError) as error:
            raise UserError(f"The history {self.path} cannot be used: {error}. $BUGZOO_HISTORY names one.") from None

    def start(self, ticket: str, seed: int, minutes: float, folder: Path) -> int:
        """A new open row; returns its number."""
        with self._open() as connection:
            cursor = connection.execute(
                "insert into interviews (started, minutes, ticket, seed, folder, status) "
                "values (?, ?, ?, ?, ?, 'open')",
                (time.time(), minutes, ticket, seed, str(folder)),
            )
            return int(cursor.lastrowid or 0)

    def finish(self, number: int, status: str, result: dict[str, Any]) -> None:
        """Complete a row. `result` is the JSON of the report."""
        with self._open() as connection:
            connection.execute(
                "update interviews set status = ?, points = ?, possible = ?, result = ? where id = ?",
                (status, result.get("points"), result.get("of"), json.dumps(result), number),
            )

    def rows(self) -> list[dict[str, Any]]:
        """All interviews, the oldest first; one whose time is long over without an end was abandoned."""
        columns = ("id", "started", "minutes", "ticket", "seed", "folder", "status", "points", "possible", "result")
        with self._open() as connection:
            found = connection.execute(f"select {', '.join(columns)} from interviews order by id").fetchall()
        rows = [dict(zip(columns, values, strict=True)) for values in found]
        for row in rows:
            row["result"] = json.loads(row["result"]) if row["result"] else None
            if row["status"] == "open" and time.time() > row["started"] + 60 * row["minutes"] + 3600:
                row["status"] = "abandoned"
        return rows
