"""The table of proved cases, `proofs/pool/cases.json`: it travels with the package, which has no ledger once it is installed.

`bugzoo.instructor.cases` makes it; assignments and hunts draw from it.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import bugzoo

FILE = "proofs/pool/cases.json"


@dataclass(frozen=True)
class Case:
    """A program with faults, and how hard they are to find, from 0 to 1: the mean over the faults."""

    program: str
    faults: tuple[str, ...]
    difficulty: float


def shipped(file: str) -> Path | None:
    """A file of `proofs/`, in the repository or in the wheel; None where it is in neither."""
    package = Path(bugzoo.__file__).parent
    return next((place for place in (package.parent / file, package / file) if place.is_file()), None)


def published() -> list[Case]:
    """The table, the easiest first; empty where it is not there."""
    place = shipped(FILE)
    rows = json.loads(place.read_text(encoding="utf-8")) if place else []
    return [Case(program, tuple(specs), hard) for program, specs, hard in rows]
