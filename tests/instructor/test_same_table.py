"""The table of a class is the same on a quiet machine, on a busy one, and after kill -9 at any moments."""

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.instructor.test_class import grade, hand_in_class

KILLS = 4


PARTS = ("state", "points", "message", "notes", "digest")


def table(path: Path) -> dict[str, Any]:
    """Everything that does not depend on how long something took."""
    found = json.loads(path.read_text(encoding="utf-8"))["students"]
    return {one["student"]: [*(one[name] for name in PARTS), *checks(one)] for one in found}


def checks(one: dict[str, Any]) -> list[Any]:
    return [[check["name"], check["status"]] for check in (one["repair"] or {}).get("checks", ())]


def killed(given: list[Any], kills: int, seed: int) -> int:
    """Grade the class, killing the command `kills` times at moments drawn from the seed; how often it was still at work."""
    dice, hit = random.Random(seed), 0
    for _ in range(kills):
        process = grade(*given, start_new_session=True)
        time.sleep(dice.uniform(0.5, 12))
        hit += process.poll() is None
        process.kill()
        process.communicate()
    process = grade(*given)
    _, said = process.communicate(timeout=900)
    assert process.returncode == 0, said
    return hit


@pytest.mark.slow
@pytest.mark.usefixtures("sandboxed")
def test_quiet_busy_and_killed(week: Path, tmp_path: Path) -> None:
    folder = tmp_path / "submitted"
    hand_in_class(week, folder)
    tables, others = [], []
    try:
        for number, kills in enumerate((0, 0, KILLS)):
            if number == 1:
                burn = [sys.executable, "-c", "while True: pass"]
                others = [subprocess.Popen(burn) for _ in range(2 * (os.cpu_count() or 1))]
            out = tmp_path / f"{number}.json"
            given = [folder, "--assignment", week, "--results", tmp_path / f"kept_{number}", "--json", out]
            hit = killed(given, kills, number)
            assert hit or not kills, "every command had come to its end before it was killed"
            tables.append(table(out))
    finally:
        for other in others:
            other.kill()
            other.wait()
    assert len(tables[0]) == 7 and tables[0] == tables[1] == tables[2]
