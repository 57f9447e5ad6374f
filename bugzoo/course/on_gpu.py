"""What is known of a lesson on a GPU: `bugzoo lessons check --device cuda --save` writes it, the notebook says it in one line."""

import hashlib
import json
from pathlib import Path
from typing import Any

from bugzoo import material

FILE = "proofs/lessons_cuda.json"


def known() -> dict[str, dict[str, Any]]:
    """Return lesson -> its last run on a GPU; empty without the file, as in an installed package."""
    file = material.root() / FILE
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def digest(file: Path) -> str:
    """Return a hash of a lesson's file, which tells whether its text has changed since that run."""
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16]


def line(file: Path) -> str:
    """Return one sentence for the reader who has a GPU."""
    run = known().get(file.stem)
    if run is None:
        return "This lesson has not run on a GPU yet."
    counts = ((len(run["words"]), "sentence"), (len(run["digits"]), "number"))
    version = "This lesson" if run["text"] == digest(file) else "An earlier version of this lesson"
    wrong = [f"{count} {noun}{'s' * (count != 1)}" for count, noun in counts if count]
    failed = f"{' and '.join(wrong)} of it did not hold there. On the CPU, where it starts, all of it does"
    verdict = failed if wrong else "all of it held there"
    return f"{version} ran on an {run['device']} on {run['date']}: {verdict}."
