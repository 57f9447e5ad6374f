"""A whole class through `bugzoo grade`: hand-ins of all sorts, an interruption, and what comes out."""

import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bugzoo.cli import output
from bugzoo.errors import UserError
from bugzoo.grading.trials.attacks import attacks
from bugzoo.instructor import grade_class, tasks
from tests.cli.conftest import bugzoo  # noqa: F401
from tests.instructor.class_of import PATCH, answer, by_buttons, cell, clear_gradients, hand_in, text
from tests.sampling import only_in_prove

NAME = "week_3"
sandboxed = pytest.mark.usefixtures("sandboxed")


def made(week: Path, kind: str = "student") -> dict[str, Any]:
    path = week / ("instructor/solution.ipynb" if kind == "solution" else f"student/{NAME}.ipynb")
    return json.loads(path.read_text(encoding="utf-8"))


def hand_in_class(week: Path, folder: Path) -> None:
    """The solution, a half-repair in disorder, nothing done, no JSON, a dishonest one, and two files of one student.

    Hal pressed the button and saved, and repaired nothing. Ida did the same, and typed another finding beside it.
    """
    hand_in(folder, "ada", made(week, "solution"), NAME)
    half = made(week)
    clear_gradients(half)
    half["cells"].reverse()
    hand_in(folder, "ben", half, NAME)
    hand_in(folder, "cem", made(week), NAME)
    hand_in(folder, "dot", json.dumps(made(week))[:-300], NAME)
    attack = made(week)
    cell(attack, "program-settings")["source"] = [text(attack, "program-settings"), "\n", PATCH]
    cell(attack, "repair")["source"] = ["7.0"]
    hand_in(folder, "eve", attack, NAME)
    hand_in(folder, "gus", made(week), NAME)
    (folder / "gus.ipynb").write_text(json.dumps(made(week)))
    pressed = by_buttons(week, NAME, repaired=False)
    hand_in(folder, "hal", pressed, NAME)
    answer(pressed, "first.hand_in(cause='wrong data or wrong labels', place=1)")
    hand_in(folder, "ida", pressed, NAME)


def grade(*arguments: object, **own: Any) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "bugzoo", "grade", *map(str, arguments)],
        env=os.environ | {"OMP_NUM_THREADS": "1", "COLUMNS": "200"} | own.pop("env", {}),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **own,
    )  # fmt: skip


@sandboxed
@pytest.mark.slow
@pytest.mark.parametrize("stopped", [False, only_in_prove(True)], ids=["a class", "a class, stopped once"])
def test_class(
    bugzoo: Callable,  # noqa: F811
    week: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    stopped: bool,
) -> None:
    folder, temporary = tmp_path / "submitted", tmp_path / "temporary"
    temporary.mkdir()
    hand_in_class(week, folder)
    (tmp_path / "class.csv").write_text("student_id,last_name,first_name,email\nada,Love,Ada,a@b.c\nzed,Zed,,\n")
    words = [folder, "--assignment", week, "--csv", tmp_path / "book.csv", "--students", tmp_path / "class.csv"]
    words += ["--json", tmp_path / "all.json", "--results", tmp_path / "kept"]
    missed = bugzoo("grade", *map(str, words))  # the list has only Ada; Gus has a folder and a file; Zed nothing
    assert missed.code == 2 and "8 hand-ins without a student, 1 student without a hand-in" in missed.err
    assert not (tmp_path / "book.csv").exists() and not (tmp_path / "kept").exists()
    words += ["--unmatched", "ok"]
    results = tmp_path / "kept" / NAME
    written = interrupted(words, results, temporary, tmp_path / "book.csv") if stopped else {}
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setattr(output, "SELDOM", 0.0)  # a quick machine is done before the first line is due
    second = bugzoo("grade", *map(str, words))
    out, complaint = second.out, second.err
    assert second.code == 1 and "2 of 9 could not be graded: dot, gus" in complaint, complaint
    assert "1 of 9 for a person (more than plain PyTorch; `--allow NAME` grades it)" in complaint, complaint
    assert "graded: 8 of 8" in complaint
    students = {student["student"]: student for student in json.loads((tmp_path / "all.json").read_text())["students"]}
    assert not regraded(written, results, students)
    check_outcome(students)
    check_csv(tmp_path / "book.csv")
    assert all(name in out for name in (*students, "of 10", str(results)))
    assert not list(temporary.glob("bugzoo-*"))
    written = times(results)
    assert bugzoo("grade", *map(str, words)).code == 1 and written and not regraded(written, results, students)


def times(kept: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in kept.glob("*.json")}


def regraded(done: dict[str, int], kept: Path, found: dict[str, dict[str, Any]]) -> list[str]:
    """Whose results were written again, although they could be graded before."""
    graded = {name: when for name, when in done.items() if found[name.removesuffix(".json")]["points"] is not None}
    return [name for name, when in graded.items() if (kept / name).stat().st_mtime_ns != when]


def interrupted(given: list[object], kept: Path, temporary: Path, book: Path) -> dict[str, int]:
    """Stop the command when its first results are there; return when each was written."""
    first = grade(*given, env={"TMPDIR": str(temporary)})
    deadline = time.monotonic() + 300
    while not list(kept.glob("*.json")) and first.poll() is None and time.monotonic() < deadline:
        time.sleep(0.1)
    first.send_signal(signal.SIGINT)
    _, complaint = first.communicate(timeout=120)
    written = times(kept)
    if first.returncode != 1:  # a very quick machine may have come to the end
        assert first.returncode == 130 and "The same command continues from there" in complaint, complaint
        assert "Traceback" not in complaint
        assert not book.exists() and written
    assert not list(kept.glob(".*")) and not list(temporary.glob("bugzoo-*"))
    return written


def check_outcome(found: dict[str, dict[str, Any]]) -> None:
    assert {name: student["state"] for name, student in found.items()} == {
        "ada": "passed", "ben": "wrong", "cem": "not attempted", "dot": "cannot be graded", "eve": "for a person",
        "gus": "cannot be graded", "hal": "wrong", "ida": "wrong", "zed": "not handed in",
    }  # fmt: skip
    assert {name: student["points"] for name, student in found.items()} == {
        "ada": 10.0, "ben": 2.1, "cem": 0.0, "dot": None, "eve": None, "gus": None,
        "hal": 3.0, "ida": 0.75, "zed": 0.0,
    }  # fmt: skip
    assert "not valid JSON" in found["dot"]["message"] and "keep the one that counts" in found["gus"]["message"]
    assert found["dot"]["notes"][0].startswith("cannot be graded: ") and found["zed"]["notes"] == ["not handed in"]
    assert any("'repair' was changed" in note for note in found["eve"]["notes"])
    assert "`import bugzoo.diagnostics as rooms`" in found["eve"]["notes"][0] and found["eve"]["repair"] is None
    assert any("out of order" in note for note in found["ben"]["notes"])
    unknown = "left over: no student in the class list has this name or number"
    assert found["hal"]["notes"] == [unknown] and found["ida"]["notes"] == [
        unknown,
        "finding 1 was handed in by the form and by a typed call; the typed call counts",
    ]
    assert found["ada"]["diagnosis"]["points"] == 3.0 and found["ada"]["repair"]["points"] == 7.0


def check_csv(path: Path) -> None:
    with path.open(newline="") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    assert (
        list(rows["ada"])
        == (
            "assignment duedate timestamp student_id last_name first_name email raw_score late_submission_penalty score "
            "max_score notes"
        ).split()
    )
    assert (rows["ada"]["last_name"], rows["ada"]["score"], rows["ada"]["max_score"]) == ("Love", "10.0", "10.0")
    assert (rows["dot"]["score"], rows["dot"]["max_score"]) == ("", "10.0")
    assert (rows["zed"]["score"], rows["zed"]["timestamp"]) == ("0.0", "")


@sandboxed
@pytest.mark.slow
@pytest.mark.parametrize(
    "chosen",
    [
        only_in_prove(("a report written by hand", "a result file of its own")),
        only_in_prove(("instruments replaced", "os._exit before the end")),
    ],
)
def test_an_exercise_is_graded_alike(tmp_path: Path, chosen: tuple[str, ...]) -> None:
    """`--assignment 04_flat_loss`: its solution earns everything; every door tried instead of a repair earns nothing."""
    from bugzoo.grading.exercises import load
    from bugzoo.grading.notebook import build
    from bugzoo.grading.plain import outside
    from bugzoo.grading.program import SECTIONS, split

    task = tasks.load("04_flat_loss")
    exercise = load("04_flat_loss")
    hand_in(tmp_path / "in", "ada", build(exercise, "solution"), task.name)
    sources = attacks(exercise.handed_out)
    for number, name in enumerate(chosen):
        student, parts = json.loads(build(exercise, "student")), split(sources[name])
        for section in SECTIONS:
            cell(student, f"program-{section.lower()}")["source"] = [f"%%program {section}\n", parts[section]]
        hand_in(tmp_path / "in", f"eve{number}", student, task.name)
    needed = sorted({entry.name for name in chosen for entry in outside(sources[name], exercise.handed_out)})
    students = {entry.student: entry for entry in grade_class(tmp_path / "in", task, tmp_path / "kept", allow=needed)}
    assert (students["ada"].state, students["ada"].points) == ("passed", task.max_points)
    for number, name in enumerate(chosen):  # the sandbox stands also where an instructor allows everything
        assert students[f"eve{number}"].state in ("wrong", "your code raised"), name
        assert students[f"eve{number}"].points == 0.0, name


def test_folders_that_hold_nothing(tmp_path: Path) -> None:
    task = tasks.load("04_flat_loss")
    with pytest.raises(UserError, match="is not a folder"):
        grade_class(tmp_path / "none", task, tmp_path / "kept")
    with pytest.raises(UserError, match="has no submissions"):
        grade_class(tmp_path, task, tmp_path / "kept")
    assert not list(tmp_path.iterdir())
    (tmp_path / "instructor").mkdir()
    (tmp_path / "instructor/key.json").write_text("{}")
    with pytest.raises(UserError, match="is the assignment itself"):
        grade_class(tmp_path, task, tmp_path / "kept")


def test_said_before_an_hour_of_grading(tmp_path: Path) -> None:
    """A gradebook that could not be written afterwards, and a folder that is none."""
    for words, message in {
        (tmp_path, "--csv", tmp_path / "none/book.csv"): "there is no folder",
        (tmp_path, "--json", tmp_path / "none/all.json"): "there is no folder",
        (tmp_path / "none",): "is not a folder",
    }.items():
        process = grade(*words, "--assignment", "04_flat_loss")
        _, complaint = process.communicate(timeout=120)
        assert process.returncode == 2 and message in complaint and "Traceback" not in complaint


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ("no/such/folder", "no such folder"),
        ("99_none", "no folder and no exercise"),
        (".", "has no answer key"),
    ],
)
def test_assignments_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, word: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=word):
        tasks.load(given)
