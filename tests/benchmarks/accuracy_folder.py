"""How often checkup is right on a folder of scripts with a `truth.json`: `checkup_accuracy --folder DIR`.

`truth.json` is a list of {"name", "kind": faulty | healthy, "accept": ids, "lines", "twin": path or null}. A faulty script is
right if a suspect's id is accepted, or is a contract at one of the lines, or next to one. A twin is healthy.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bugzoo.diagnostics.checkup import Report, checkup

NEXT = 2
"""Lines by which a contract's place may differ."""
COLUMNS = (
    "scripts",
    "right first",
    "in three",
    "contract, other line",
    "silent",
    "wrong first",
    "healthy",
    "false alarms",
)


@dataclass(frozen=True)
class Truth:
    """One script of the folder."""

    name: str
    path: Path
    accept: Sequence[str]
    lines: Sequence[int]
    faulty: bool

    def right(self, suspect: Any) -> bool:
        return right(suspect, self.accept, self.lines)


def right(suspect: Any, accept: Sequence[str], lines: Sequence[int]) -> bool:
    """Return whether a suspect is one of these ids, or a contract, alone or joined with an instrument, at one of the lines."""
    near = suspect.line is not None and any(abs(suspect.line - line) <= NEXT for line in lines)
    return suspect.cause in accept or (near and any(one.startswith("contracts/") for one in suspect.instruments))


def truths(folder: Path) -> list[Truth]:
    """Return the scripts of a folder and their healthy twins. Raises FileNotFoundError without a truth.json."""
    found = []
    for one in json.loads((folder / "truth.json").read_text(encoding="utf-8")):
        faulty = one["kind"] == "faulty"
        found.append(Truth(one["name"], folder / f"{one['name']}.py", one["accept"], one["lines"], faulty))
        if one.get("twin"):
            found.append(Truth(f"{one['name']}, repaired", folder / one["twin"], (), (), False))
    return found


def judged(truth: Truth, report: Report) -> dict[str, int]:
    """Return which columns one report counts in."""
    suspects = report.remaining
    if not truth.faulty:
        return {"healthy": 1, "false alarms": int(report.outcome == "found")}
    first = bool(suspects) and truth.right(suspects[0])
    other = bool(suspects) and not first and any(one.startswith("contracts/") for one in suspects[0].instruments)
    return {
        "scripts": 1,
        "right first": int(first),
        "in three": int(any(map(truth.right, suspects[:3]))),
        "contract, other line": int(other),
        "silent": int(not suspects),
        "wrong first": int(bool(suspects) and not first and not other),
    }


def measure(folder: Path, seconds: float = 60) -> dict[str, int]:
    """Return the number of scripts in each of COLUMNS, and print a line for each script."""
    total = dict.fromkeys(COLUMNS, 0)
    for truth in truths(folder):
        report = checkup(truth.path, seconds=seconds)
        for name, count in judged(truth, report).items():
            total[name] += count
        named = [f"{one.cause} at {one.line} ({one.score:.2f})" for one in report.remaining[:3]]
        print(f"{truth.name}: {report.outcome}: {'; '.join(named) or '-'}", flush=True)
    return total
