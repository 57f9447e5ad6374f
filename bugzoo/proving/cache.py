"""Results by content: a run is not repeated while its text, its limits and the code that measures it are the same."""

import hashlib
import json
import os
from functools import cache as once
from importlib.metadata import version
from pathlib import Path
from typing import Any

import bugzoo
from bugzoo.running import Job

_MEASURING = ("watching", "running", "diagnostics")


def folder() -> Path:
    """Where results are kept: $BUGZOO_CACHE, else the user's cache folder."""
    if given := os.environ.get("BUGZOO_CACHE"):
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bugzoo"


@once
def measuring_code() -> str:
    """One hash over every file that takes part in measuring, and the version of torch."""
    digest = hashlib.sha256(version("torch").encode())
    root = Path(bugzoo.__file__).parent
    for room in _MEASURING:
        for file in sorted((root / room).rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()


def key(job: Job) -> str:
    text = repr((job.source, job.limits, job.ranks, job.after, job.after_args, measuring_code()))
    return hashlib.sha256(text.encode()).hexdigest()


def read(job: Job) -> dict[str, Any] | None:
    """The stored result of this job; None when there is none (or it cannot be read: then it is measured again)."""
    try:
        return json.loads((folder() / f"{key(job)}.json").read_text())
    except (OSError, ValueError):
        return None


def write(job: Job, result: dict[str, Any]) -> None:
    """Store a result. A cache that cannot be written is no reason to fail."""
    path = folder() / f"{key(job)}.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(f".{os.getpid()}.part")
        partial.write_text(json.dumps(result))
        partial.replace(path)
    except OSError:
        pass
