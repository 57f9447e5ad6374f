"""Who may look: users, sessions, and wrong passwords, which are slowed down."""

import hashlib
import json
import re
import secrets
import sqlite3
import time

from bugzoo.errors import UserError
from bugzoo.instructor.serve import passwords
from bugzoo.instructor.serve.database import now
from bugzoo.instructor.serve.store import Store

HOURS = 12
"""A session lasts."""
FREE = 5
"""Wrong passwords in a row, of a name or from an address, before the next one has to wait."""
FIRST_WAIT, LONGEST_WAIT, FORGET = 5.0, 60.0, 900.0
"""Seconds: the wait doubles with each further one; after some time without a try it is forgotten."""
_NAME = re.compile(r"[\w.@-]{1,64}")


class Access:
    """Users, sessions and tries of one store."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def add(self, name: str, password: str, by: str = "command line") -> None:
        """A user. Raises UserError for a name that is taken or none, or a password that is too short."""
        if not _NAME.fullmatch(name):
            raise UserError(f"{name!r:.90} is no name for a user: it has 1 to 64 letters, digits and any of . _ @ -")
        passwords.check(password)
        kept = passwords.hashed(password)
        try:
            with self.store.writing() as db:
                db.execute("INSERT INTO users (name, hash, made_at) VALUES (?, ?, ?)", (name, kept, now()))
                self.store.note(by, "user added", name)
        except sqlite3.IntegrityError:
            raise UserError(
                f"There is a user {name} already. For a new password remove and add them: "
                f"`bugzoo classroom user remove {name} FOLDER`."
            ) from None

    def remove(self, name: str, by: str = "command line") -> None:
        """Take a user out, with all sessions; what they did stays in the log. Raises UserError."""
        with self.store.writing() as db:
            if not db.execute("DELETE FROM users WHERE name = ?", (name,)).rowcount:
                known = ", ".join(one["name"] for one in self.users()) or "none"
                raise UserError(f"There is no user {name!r:.90}; there is {known}.")
            self.store.note(by, "user removed", name)

    def users(self) -> list[sqlite3.Row]:
        return self.store.rows("SELECT name, made_at FROM users ORDER BY name")

    def secret(self) -> str:
        """The key that cookies are signed with, made once."""
        with self.store.writing() as db:
            db.execute("INSERT OR IGNORE INTO settings VALUES ('cookie_secret', ?)", (secrets.token_hex(32),))
        found = self.store.row("SELECT value FROM settings WHERE name = 'cookie_secret'")
        assert found is not None
        return found["value"]

    # -- logging in ----------------------------------------------------------------------------------------------------

    def hash_of(self, name: str) -> str | None:
        found = self.store.row("SELECT hash FROM users WHERE name = ?", name)
        return found["hash"] if found else None

    def wait(self, name: str, address: str) -> float:
        """Seconds until a password is looked at again; 0 where that is now."""
        found = self.store.row("SELECT max(locked) AS until FROM tries WHERE who IN (?, ?)", *_who(name, address))
        return max(0.0, (found["until"] or 0.0) - time.time()) if found else 0.0

    def trying(self, name: str, address: str) -> float:
        """Count a try as a wrong one, before it is looked at: many at once gain nothing. The wait where it may not be."""
        at = time.time()
        with self.store.writing() as db:
            if wait := self.wait(name, address):
                return wait
            db.execute("DELETE FROM tries WHERE last < ?", (at - FORGET,))
            for who in _who(name, address):
                found = db.execute("SELECT failed FROM tries WHERE who = ?", (who,)).fetchone()
                failed = (found["failed"] if found else 0) + 1
                lock = min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(failed - FREE, 10)) if failed >= FREE else 0.0
                db.execute(
                    "INSERT OR REPLACE INTO tries VALUES (?, ?, ?, ?)", (who, failed, at + lock if lock else 0.0, at)
                )
        return 0.0

    def failed(self, name: str, address: str) -> None:
        """A wrong password, for the log. The name is that of a user or not said: it may be a password typed one line up."""
        with self.store.writing():
            known = name if self.hash_of(name) else "a name that nobody has"
            self.store.note("somebody", "wrong password", f"{known}, from {address}")

    def begin(self, name: str, address: str) -> str:
        """A session's token, for a password that was right."""
        token = secrets.token_urlsafe(32)
        with self.store.writing() as db:
            db.execute("DELETE FROM sessions WHERE ends < ?", (time.time(),))
            query = "INSERT INTO sessions (token, user, ends) SELECT ?, id, ? FROM users WHERE name = ?"
            db.execute(query, (_digest(token), time.time() + HOURS * 3600, name))
            db.executemany("DELETE FROM tries WHERE who = ?", [(who,) for who in _who(name, address)])
            self.store.note(name, "logged in", address)
        return token

    def user(self, token: str) -> str:
        """Whose session it is; empty where it has ended."""
        query = "SELECT name FROM users JOIN sessions ON user = id WHERE token = ? AND ends > ?"
        found = self.store.row(query, _digest(token), time.time())
        return found["name"] if found else ""

    def end(self, token: str, name: str) -> None:
        """Log out: the cookie is worth nothing from now on."""
        with self.store.writing() as db:
            db.execute("DELETE FROM sessions WHERE token = ?", (_digest(token),))
            self.store.note(name, "logged out")

    def tell(self, token: str, lines: list[str], bad: bool = False) -> None:
        """What the next page of this session says at its top."""
        with self.store.writing() as db:
            db.execute("UPDATE sessions SET flash = ? WHERE token = ?", (json.dumps([bad, lines]), _digest(token)))

    def told(self, token: str) -> tuple[bool, list[str]]:
        """That, once: (whether it is a mistake, the lines)."""
        found = self.store.row("SELECT flash FROM sessions WHERE token = ?", _digest(token))
        said = json.loads(found["flash"]) if found else []
        if not said:
            return False, []
        with self.store.writing() as db:
            db.execute("UPDATE sessions SET flash = '[]' WHERE token = ?", (_digest(token),))
        return said[0], said[1]


def _who(name: str, address: str) -> tuple[str, str]:
    return f"user {hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:32]}", f"address {address}"


def _digest(token: str) -> str:
    """What is kept of a token: who reads the database cannot log in with it."""
    return hashlib.sha256(token.encode()).hexdigest()
