"""What was handed out on 29 November 2026, and what people have made of it since. These files are never built again.

Beside this file lie a lesson, an exercise (as a student gets it, solved, and nbgrader's source), an assignment, a student's
saved notebook, a learner's record and a pack of faults. They have to go on working.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

HERE = Path(__file__).parent
LESSON, EXERCISE, ASSIGNMENT = "02_overfit_one_batch", "04_flat_loss", "week_3"
DIGEST = "7a051e7c6fece0b7"
"""Of all the files below. A change of it changes what others have, and they do not get it."""


def digest() -> str:
    """Return the digest of the names and contents of the files that were handed out."""
    hashed = hashlib.sha256()
    excluded = {*HERE.glob("*.py"), HERE / "imports.txt"}
    files = (path for path in HERE.rglob("*") if path.is_file() and path not in excluded)
    for path in sorted(path for path in files if "__pycache__" not in path.parts):
        hashed.update(f"{path.relative_to(HERE).as_posix()}\n".encode() + path.read_bytes())
    return hashed.hexdigest()[:16]


def cells(text: str) -> dict[str, Any]:
    """Return cell id -> cell of a notebook's text."""
    return {cell["id"]: cell for cell in json.loads(text)["cells"]}


def filled(text: str, behind: Mapping[str, str], instead: Mapping[str, tuple[str, str]] = MappingProxyType({})) -> str:
    """Return a notebook with code behind some cells, and in others a text instead of another one that stands there once."""
    book = json.loads(text)
    for cell in book["cells"]:
        source = "".join(cell["source"])
        if cell["id"] in behind:
            source = f"{source}\n{behind[cell['id']]}"
        if cell["id"] in instead:
            old, new = instead[cell["id"]]
            assert source.count(old) == 1, cell["id"]
            source = source.replace(old, new)
        cell["source"] = source
    return json.dumps(book)
