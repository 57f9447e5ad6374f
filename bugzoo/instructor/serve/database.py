"""The SQLite file of a class: opened with care, brought up to date, and every mistake of it said in plain words."""

import contextlib
import errno
import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from bugzoo.errors import UserError
from bugzoo.instructor.folder import FOLDER
from bugzoo.instructor.serve.schema import MIGRATIONS

NAME = f"{FOLDER}/classroom.db"
PATIENCE = 15.0
"""Seconds to wait for another process that is writing."""


def now() -> str:
    """The time as it is kept and shown: local, with its zone."""
    return time.strftime("%Y-%m-%d %H:%M:%S %z")


def connect(path: Path) -> sqlite3.Connection:
    """The database at `path`, made where there is none, with the tables of this bugzoo. Raises UserError.

    Only its owner may read it: the key of the sessions and everybody's hand-ins are in it.
    """
    try:
        # an open file is never closed here once there is a database: that would drop SQLite's locks of the whole process
        if not os.path.lexists(path):
            with contextlib.suppress(FileExistsError):
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise OSError(errno.EINVAL, "it is a link or no file")
        os.chmod(path, 0o600)
    except OSError as error:
        raise UserError(f"{path} could not be opened: {error.strerror}. It is a plain file that you own.") from None
    # several threads use one connection, never two at a time; transactions are begun by name
    made = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
    made.row_factory = sqlite3.Row
    try:
        with said(path):
            made.execute("PRAGMA journal_mode = WAL")
            made.execute("PRAGMA synchronous = FULL")
            made.execute("PRAGMA foreign_keys = ON")
            made.execute("PRAGMA trusted_schema = OFF")
            _migrate(made, path)
    except BaseException:
        made.close()
        raise
    return made


@contextlib.contextmanager
def said(path: Path) -> Iterator[None]:
    """What SQLite raises, as a UserError."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise UserError(f"{path} could not be used: {error}. What was there is as it was.") from None
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.IntegrityError):
            raise
        raise UserError(f"{path} is no database that can be read ({error}). Take it from a copy.") from None


@contextlib.contextmanager
def transaction(made: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """All of the block or nothing; others who write wait."""
    made.execute("BEGIN IMMEDIATE")
    try:
        yield made
        made.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            made.execute("ROLLBACK")
        raise


def _migrate(made: sqlite3.Connection, path: Path) -> None:
    with transaction(made):
        made.execute("CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, at TEXT NOT NULL) STRICT")
        done = made.execute("SELECT coalesce(max(number), 0) FROM migrations").fetchone()[0]
        if done > len(MIGRATIONS):
            raise UserError(f"{path} was made by a newer bugzoo (migration {done}; this one knows {len(MIGRATIONS)}).")
        for number, statements in enumerate(MIGRATIONS[done:], done + 1):
            for statement in statements:
                made.execute(statement)
            made.execute("INSERT INTO migrations VALUES (?, ?)", (number, now()))
