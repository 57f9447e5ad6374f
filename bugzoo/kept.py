"""A cache of results, keyed by a hash of their inputs: one folder of small JSON files that you may delete."""

import contextlib
import hashlib
import json
import os
from pathlib import Path
from typing import Any

from bugzoo.errors import UserError
from bugzoo.files import write_atomic
from bugzoo.plain import plain


def folder() -> Path:
    """Return the cache folder: $BUGZOO_CACHE, else the user's cache folder."""
    if path := os.environ.get("BUGZOO_CACHE"):
        return Path(path)
    from platformdirs import user_cache_path

    return user_cache_path("bugzoo", appauthor=False)


def key(kind: str, *parts: object) -> str:
    """Return a name for a result: its kind, and a hash of everything that it depends on (by `repr`)."""
    return f"{kind}-{hashlib.sha256(repr(parts).encode()).hexdigest()[:40]}"


def read(name: str) -> dict[str, Any] | None:
    """Return the result stored under a `key`, None if it is missing or unreadable."""
    try:
        entry = json.loads((folder() / f"{name}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return entry if isinstance(entry, dict) else None


def write(name: str, value: dict[str, Any]) -> None:
    """Store a result. If the folder cannot be written, nothing is raised: the result is measured again next time."""
    with contextlib.suppress(UserError):
        write_atomic(folder() / f"{name}.json", json.dumps(plain(value, finite=False)), parents=True)
