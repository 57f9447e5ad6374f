"""What a learner has answered, in one small SQLite file that stays on this machine."""

import contextlib
import json
import os
import sqlite3
import time
from pathlib import Path
from typing import Any

_TABLE = """
create table if not exists kept (
    kind text not null, key text not null, at real not null, value text not null, primary key (kind, key)
)"""


def path() -> Path:
    """`$BUGZOO_PROGRESS`, else `bugzoo/lessons.sqlite` in the user's data folder."""
    if given := os.environ.get("BUGZOO_PROGRESS"):
        return Path(given)
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "bugzoo" / "lessons.sqlite"


def keep(kind: str, key: str, value: dict[str, Any]) -> bool:
    """Remember the latest `value` under (kind, key). False where it cannot be written: a lesson goes on without."""
    with contextlib.suppress(OSError, sqlite3.Error):
        path().parent.mkdir(parents=True, exist_ok=True)
        with contextlib.closing(sqlite3.connect(path(), timeout=5)) as connection, connection:
            connection.execute(_TABLE)
            row = (kind, key, time.time(), json.dumps(value))
            connection.execute("insert or replace into kept values (?, ?, ?, ?)", row)
        return True
    return False


def kept(kind: str, key: str) -> dict[str, Any] | None:
    """What `keep` stored last, None where nothing is."""
    with contextlib.suppress(OSError, sqlite3.Error):
        if not path().exists():
            return None
        with contextlib.closing(sqlite3.connect(path(), timeout=5)) as connection:
            found = connection.execute("select value from kept where kind = ? and key = ?", (kind, key)).fetchone()
        return json.loads(found[0]) if found else None
    return None
