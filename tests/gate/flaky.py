"""Tests that failed once and passed alone: what the gate writes of them, and the list that is kept by hand."""

import json
from datetime import date
from pathlib import Path
from typing import Any

LIST = Path(__file__).parent.parent / "flaky.md"
"""A table of test, date, seed, load and what was done; if you land a change, you add its rows."""


def entry(test: str, why: str, seed: str, load: float) -> dict[str, Any]:
    """One row of `artefacts/flaky.json`. `load` is the machine's load average over the last minute."""
    return {"test": test, "date": date.today().isoformat(), "seed": seed, "load": round(load, 1), "why": why}


def row(one: dict[str, Any]) -> str:
    """The same as a row of `tests/flaky.md`, to be completed by hand."""
    return f"| {one['test']} | {one['date']} | {one['seed']} | {one['load']} | |"


def write(found: list[dict[str, Any]], file: Path) -> None:
    file.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


def twice(text: str) -> list[str]:
    """Tests that stand in the list at least twice since their last row with the word "mended"."""
    since: dict[str, int] = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != 5 or "::" not in cells[0]:
            continue
        since[cells[0]] = 0 if "mended" in cells[4].lower() else since.get(cells[0], 0) + 1
    return sorted(test for test, times in since.items() if times >= 2)
