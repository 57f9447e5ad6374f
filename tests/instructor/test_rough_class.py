"""A class whose hand-ins go for the machine, for their neighbors and for the teacher's terminal, graded in one run."""

import csv
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from bugzoo.grading.exercises import load
from bugzoo.grading.notebook import build
from bugzoo.grading.plain import outside
from bugzoo.grading.program import SECTIONS, split
from bugzoo.machine import cores
from bugzoo.running import worker
from bugzoo.running.account import Account
from tests.cli.conftest import bugzoo  # noqa: F401
from tests.instructor.class_of import cell, hand_in

NAME = "10_restless_loss"
OWN_MIB = 128
"""Half of what a supervisor may use."""
ESCAPES = r'raise ValueError("\x1b[2J\x1b]0;passed\x07\x9b31m =HYPERLINK(1)")' + "\n"
FILES = """import os
for number in range(50_000):
    os.close(os.open(f"/tmp/{number}", os.O_CREAT | os.O_WRONLY))
"""
MEMORY = "import torch\nheld = [torch.zeros(2**26) for _ in range(100)]\n"
TEXT = 'for _ in range(400_000):\n    print("passed " * 20)\n'
STAYS = """import os, time
if os.fork() == 0:
    os.setsid()
    time.sleep(1000)
"""
NEIGHBORS = """import glob, os, pathlib
for path in glob.glob("FOLDER/**", recursive=True) + glob.glob("/tmp/**", recursive=True):
    try:
        pathlib.Path(path).write_text("0")
    except OSError:
        pass
for pid in range(2, 40_000):
    try:
        os.kill(pid, 9) if pid != os.getpid() else None
    except OSError:
        pass
"""
FIRST = {"bea": ESCAPES, "cal": FILES, "dov": MEMORY, "eli": TEXT, "flo": STAYS, "gil": NEIGHBORS}
"""Each begins with an attack, and goes on with the text that was handed out."""


def notebook(text: str) -> dict:
    student, parts = json.loads(build(load(NAME), "student")), split(text)
    for section in SECTIONS:
        cell(student, f"program-{section.lower()}")["source"] = [f"%%program {section}\n", parts[section]]
    return student


@pytest.fixture
def accounts(monkeypatch: pytest.MonkeyPatch) -> list[Account]:
    """What the supervisors report of every run."""
    reports: list[Account] = []
    through = worker._through_zygote

    def keep(*given) -> Account:
        reports.append(through(*given))
        return reports[-1]

    monkeypatch.setattr(worker, "_through_zygote", keep)
    return reports


@pytest.mark.slow
@pytest.mark.usefixtures("sandboxed")
def test_a_rough_class(
    bugzoo: Callable,  # noqa: F811
    accounts: list[Account],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neighbors keep their points, no control character is shown, nothing is left behind, and supervisors stay small."""
    folder, temporary = tmp_path / "submitted", tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    exercise = load(NAME)
    handed_out = exercise.handed_out
    rough = {name: text.replace("FOLDER", str(tmp_path)) + handed_out for name, text in FIRST.items()}
    for name, text in rough.items():
        hand_in(folder, name, notebook(text), NAME)
    hand_in(folder, "zoe", build(exercise, "solution"), NAME)
    before = {path: path.read_bytes() for path in folder.rglob("*.ipynb")}
    allowed = sorted({entry.name for text in rough.values() for entry in outside(text, handed_out)})

    options = f"--csv {tmp_path}/book.csv --json {tmp_path}/all.json --results {tmp_path}/kept --draw 3".split()
    allow = [part for name in allowed for part in ("--allow", name)]
    run = bugzoo("grade", str(folder), "--assignment", NAME, *options, *allow)

    assert run.code == 0, run.err
    students = {entry["student"]: entry for entry in json.loads((tmp_path / "all.json").read_text())["students"]}
    earned = dict.fromkeys(FIRST, 0.0) | {"zoe": sum(exercise.points)}
    assert {name: entry["points"] for name, entry in students.items()} == earned
    assert {name for name, entry in students.items() if entry["state"] == "passed"} == {"zoe"}
    assert students["bea"]["repair"]["checks"][0]["saw"].endswith("ValueError in line 1:  =HYPERLINK(1).")
    assert {path: path.read_bytes() for path in folder.rglob("*.ipynb")} == before

    texts = [run.out, run.err, *(path.read_text() for path in (tmp_path / "kept").rglob("*.json"))]
    texts += [
        (tmp_path / "book.csv").read_text(),
        *(json.dumps(entry, ensure_ascii=False) for entry in students.values()),
    ]
    assert not [text for text in texts if any(mark in text for mark in ("\x1b", "\x9b", "\x07", "\\u001b", "\\u009b"))]
    cells = [value for line in csv.reader((tmp_path / "book.csv").read_text().splitlines()) for value in line]
    assert not [value for value in cells if value.startswith(("=", "+", "@"))]

    assert not list(temporary.glob("bugzoo-*"))
    assert not [entry for warm in psutil.Process().children() for entry in warm.children()]
    assert max(account.supervisor_mib for account in accounts) < OWN_MIB
    assert max(account.processor_s for account in accounts) < 1.4 * cores() * exercise.seconds
