"""The answers of an incident: one file beside its folder, packed so that nobody reads them by accident."""

import base64
import hashlib
import json
import zlib
from pathlib import Path
from typing import Any

from bugzoo.errors import UserError
from bugzoo.files import write_atomic

FORMAT = 1
ENDING = ".answers"
MOST = 4 * 2**20
"""Bytes; ours have some kilobytes."""


def place(folder: Path) -> Path:
    """`incident.answers` for the folder `incident`: outside, so that a search through the folder does not meet it."""
    whole = folder.resolve()
    return whole.with_name(whole.name + ENDING)


def write(path: Path, answers: dict[str, Any]) -> None:
    packed = base64.b64encode(zlib.compress(json.dumps(answers).encode(), 9)).decode()
    write_atomic(
        path, json.dumps({"bugzoo_incident": FORMAT, "answers": packed, "hash": _hash(packed)}, indent=1) + "\n"
    )


def read(folder: Path) -> dict[str, Any]:
    """What `write` packed. Raises UserError for a folder without answers, or with some that were changed or are newer."""
    path = place(folder)
    if not folder.is_dir() or not path.is_file():
        raise UserError(
            f"{folder} is no incident with its answers in {path.name} beside it. `bugzoo incident make` makes one."
        )
    try:
        row = json.loads(path.read_text(encoding="utf-8")) if path.stat().st_size <= MOST else None
    except (OSError, ValueError, RecursionError):
        row = None
    if not isinstance(row, dict) or "bugzoo_incident" not in row:
        raise UserError(f"{path} holds no answers of an incident. `bugzoo incident make` makes them with the folder.")
    if row["bugzoo_incident"] != FORMAT:
        raise UserError(
            f"{path} has format {row['bugzoo_incident']!r}, and this bugzoo reads format {FORMAT}. Update bugzoo."
        )
    packed = row.get("answers")
    if not isinstance(packed, str) or row.get("hash") != _hash(packed):
        raise UserError(f"{path} was changed after it was written. Make the incident again, in another folder.")
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def _hash(packed: str) -> str:
    return hashlib.sha256(packed.encode()).hexdigest()
