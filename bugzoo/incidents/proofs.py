"""By runs, for who works on bugzoo: an incident made twice has the same answers, and its folder names no fault.

What holds is written to `proofs/incidents/NAME.json`, with a key over all texts that it was made from.
"""

import hashlib
import inspect
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bugzoo import faults as catalogue
from bugzoo import programs
from bugzoo.files import write_atomic
from bugzoo.incidents import bisecting, library, sealed
from bugzoo.incidents.leaks import leaked
from bugzoo.proving import ledger
from bugzoo.scenario import parse_spec

AGAIN = 3.0
"""Times the room of an answer that another run of the same incident may differ by, where times or memory are measured."""
USUAL: dict[str, Any] = {"program": "mlp", "fault": None, "commits": 20, "seed": 3}
Progress = Callable[[int, int], None]


def prove(name: str, progress: Progress | None = None) -> dict[str, Any]:
    """Make an incident twice, a history once (each commit of it is proved as it is made); what was found, written down.

    `problems` are sentences, empty where it holds; only then it is written. Raises UserError for an unknown name.
    """
    library.check(name)
    with tempfile.TemporaryDirectory(prefix="bugzoo-incident-") as place:
        if name == library.HISTORY:
            found = _history(Path(place, "made"), progress)
        else:
            found = _declared(name, Path(place), progress)
    if not found["problems"] and (home := ledger.home()):
        write_atomic(home / "incidents" / f"{name}.json", json.dumps(found, indent=1) + "\n", parents=True)
    return found


def key(name: str) -> str:
    """Hash of what an incident is made from: its own file, its program and the edits of its faults."""
    if name == library.HISTORY:
        return ""
    one = library.load(name)
    known = [catalogue.load(parse_spec(spec)[0]) for spec in one.FAULTS]
    parts = [
        inspect.getsource(sys.modules[one.make.__module__]),
        programs.load(one.PROGRAM).source,
        *(repr(fault.edits) for fault in known),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _history(folder: Path, progress: Progress | None) -> dict[str, Any]:
    bisecting.make(folder, **USUAL, progress=progress)
    answers = sealed.read(folder)
    problems = leaked(folder, [answers["fault"].partition("?")[0]])
    return {
        "incident": library.HISTORY,
        "key": "",
        "made": USUAL,
        "fault": answers["fault"],
        "commits": answers["said"],
        "noisy": answers["noisy"],
        "seeds": answers["seeds"],
        "problems": problems,
    }


def _declared(name: str, place: Path, progress: Progress | None) -> dict[str, Any]:
    one, rounds = library.load(name), []
    for number in range(2):
        half = (lambda done, of, n=number: progress(n * of + done, 2 * of)) if progress else None
        library.make(name, place / f"{number}", 0, half)
        rounds.append(sealed.read(place / f"{number}")["questions"])
    problems = leaked(place / "0", [parse_spec(spec)[0] for spec in one.FAULTS])
    for number, (first, again) in enumerate(zip(*rounds, strict=True), 1):
        if not same(first, again):
            problems.append(f"question {number}: {first['answer']}, and {again['answer']} in another run")
    if len(rounds[0]) != one.QUESTIONS:
        problems.append(f"it asks {len(rounds[0])} questions and says {one.QUESTIONS}")
    answers = [[first["answer"], again["answer"], first["tolerance"]] for first, again in zip(*rounds, strict=True)]
    return {"incident": name, "key": key(name), "answers": answers, "problems": problems}


def same(first: dict[str, Any], again: dict[str, Any]) -> bool:
    """Whether two runs of one incident gave the same answer."""
    if first["kind"] != "number":
        return first["answer"] == again["answer"]
    return abs(first["answer"] - again["answer"]) <= AGAIN * first["tolerance"] + 1e-9
