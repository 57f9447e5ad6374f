"""The salt of the grader's own draws: with it, a submission cannot work out from seeds which examples it is graded on.

A held-out example is drawn under the scenario's seed. Programs, seeds and generators are public, so a submission could
draw the same reviews or windows itself. A salt is added to the seed, for submission and healthy twin alike:

    with salt.of_this_machine(): ...     exercises, self-checks, interviews: drawn once, beside the learner's record
    with salt.used(key.salt): ...        an assignment: its answer key holds the salt
    (neither)                            no salt: proofs, benchmarks and tests draw the same everywhere

`$BUGZOO_SALT` replaces the salt of this machine; empty, it means none. Without a sandbox a submission could
read the salt, so it is not used there.
"""

import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

from bugzoo import record
from bugzoo.errors import UserError
from bugzoo.files import write_atomic
from bugzoo.running import sandbox

VARIABLE, FILE = "BUGZOO_SALT", "salt"
_chosen: ContextVar[str] = ContextVar("salt", default="")


@contextmanager
def used(salt: str) -> Iterator[None]:
    """Draw with `salt` within the block, in this thread."""
    before = _chosen.set(salt)
    try:
        yield
    finally:
        _chosen.reset(before)


@contextmanager
def of_this_machine() -> Iterator[None]:
    """Draw with the salt of this machine within the block."""
    with used(drawn()):
        yield


def current() -> str:
    """Return the salt in use, "" for none. Raises RuntimeError if it is unknown whether there is a sandbox."""
    chosen = _chosen.get()
    return chosen if chosen and not sandbox.missing() else ""


def number() -> int:
    """Return what is added to a seed: 0 without a salt, else 60 bits. torch takes 64, and a submission cannot try them all."""
    salt = current()
    return int.from_bytes(hashlib.sha256(salt.encode()).digest()[:8], "big") >> 4 if salt else 0


def drawn() -> str:
    """Return the salt of this machine; the first call draws it. If it cannot be kept, this process has its own."""
    setting = os.environ.get(VARIABLE)
    return _kept(str(record.folder() / FILE)) if setting is None else setting


def derived(*about: str) -> str:
    """Return the salt of an assignment: the same command makes it again on this machine. Empty if this machine's is."""
    machine_salt = drawn()
    return hashlib.sha256(repr((machine_salt, *about)).encode()).hexdigest()[:32] if machine_salt else ""


@cache
def _kept(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            if text := file.read().strip():
                return text
    except OSError:
        pass
    fresh = secrets.token_hex(16)
    try:
        write_atomic(path, f"{fresh}\n", parents=True)
        os.chmod(path, 0o600)
    except (OSError, UserError):
        pass
    return fresh
