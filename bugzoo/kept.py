"""Results that are kept for the next time, by their content: one folder of small JSON files that may be thrown away."""

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
    """Where results are kept: $BUGZOO_CACHE, else the user's cache folder."""
    if given := os.environ.get("BUGZOO_CACHE"):
        return Path(given)
    from platformdirs import user_cache_path

    return user_cache_path("bugzoo", appauthor=False)


def key(kind: str, *parts: object) -> str:
    """A name for a result: its kind, and a hash over everything that it depends on (by `repr`)."""
    return f"{kind}-{hashlib.sha256(repr(parts).encode()).hexdigest()[:40]}"


def read(name: str) -> dict[str, Any] | None:
    """What is kept under a `key`; None when there is nothing, or nothing that can be read."""
    try:
        found = json.loads((folder() / f"{name}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def write(name: str, value: dict[str, Any]) -> None:
    """Keep a result. A folder that cannot be written is no reason to fail: it is measured again the next time."""
    with contextlib.suppress(UserError):
        write_atomic(folder() / f"{name}.json", json.dumps(plain(value, finite=False)), parents=True)
