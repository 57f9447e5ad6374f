"""Exercises without a repair as homework: which run is ill, and the change that breaks, graded for a class."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from bugzoo.errors import UserError
from bugzoo.grading import breaking, lineup
from bugzoo.grading.breaking.judge import solution
from bugzoo.grading.breaking.notebook import build as build_breaking
from bugzoo.grading.lineup.answer import filled
from bugzoo.grading.lineup.model import LETTERS, NONE
from bugzoo.grading.lineup.notebook import build as build_lineup
from bugzoo.grading.program import split
from bugzoo.instructor import diagnosis_cell, grade_class, tasks
from tests.instructor.class_of import cell, hand_in, text

pytestmark = pytest.mark.usefixtures("sandboxed")
ILL, WELL = "05", "12"
BROKEN = "39"
"""On the quickest program."""


def answered(name: str, code: str) -> dict[str, Any]:
    made = json.loads(build_lineup(lineup.load(name)))
    cell(made, "answer")["source"] = code.splitlines(keepends=True)
    return made


def without(made: dict[str, Any], name: str) -> dict[str, Any]:
    made["cells"].remove(cell(made, name))
    return made


def edited(source: str) -> dict[str, Any]:
    """The notebook of the change that breaks, with this program in its cells."""
    made, parts = json.loads(build_breaking(breaking.load(BROKEN))), split(source)
    for one in made["cells"]:
        if one["id"].startswith("program-"):
            head = text(made, one["id"]).splitlines()[0]
            one["source"] = [f"{head}\n", parts[head.removeprefix("%%program ").strip()]]
    return made


def graded(folder: Path, name: str, handed: dict[str, dict[str, Any]]) -> dict[str, Any]:
    task = tasks.to_grade(name)
    for student, made in handed.items():
        hand_in(folder / "in", student, made, task.name)
    return {one.student: one for one in grade_class(folder / "in", task, folder / "kept", workers=2)}


def call(given: dict[str, Any], **changes: Any) -> str:
    said = given | changes
    return f"filled = board.hand_in({said['run']!r}, cause={said['cause']!r}, evidence={said['evidence']!r})"


@pytest.mark.slow
def test_a_line_up(tmp_path: Path) -> None:
    one = lineup.load(ILL)
    right = filled(one)
    assert one.ill != NONE
    other = next(letter for letter in LETTERS if letter != one.ill)
    written = json.loads(build_lineup(one, "instructor"))
    shown = answered(ILL, call(right))
    cell(shown, "graded")["source"] = ["10.0"]
    found = graded(
        tmp_path,
        ILL,
        {
            "ada": written,
            "ben": answered(ILL, call(right, run=other)),
            "cem": json.loads(build_lineup(one)),
            "dot": without(answered(ILL, call(right)), "answer"),
            "eve": answered(ILL, f"{call(right)[:-1]}, now=missing)"),
            "fay": answered(ILL, f'board.hand_in("{one.ill.lower()}")'),
            "gus": answered(ILL, "board.hand_in('Q')"),
            "hal": without(answered(ILL, call(right, cause=right["cause"].upper())), "graded"),
            "ida": answered(ILL, f'board.hand_in("{one.ill}", board.causes[{one.offered.index(right["cause"])}])'),
            "joe": answered(ILL, "import os\nos._exit(0)"),
            "kim": answered(ILL, f"{call(right)}\nraise SystemExit  # what was handed in before counts"),
        },
    )
    assert {name: (record.state, record.points) for name, record in found.items()} == {
        "ada": ("passed", 10.0), "ben": ("wrong", 0.0), "cem": ("not attempted", 0.0), "dot": ("not attempted", 0.0),
        "eve": ("your code raised", 0.0), "fay": ("wrong", 5.0), "gus": ("not attempted", 0.0), "hal": ("passed", 10.0),
        "ida": ("wrong", 8.0), "joe": ("your code raised", 0.0), "kim": ("passed", 10.0),
    }  # fmt: skip
    assert any("'answer' is missing" in note for note in found["dot"].notes) and "NameError" in found["eve"].message
    assert "'Q' is no run" in found["gus"].message and "did not come to its end" in found["joe"].message
    assert any("'graded' is missing" in note for note in found["hal"].notes)
    assert all(record.repair is None and record.max_points == 10 for record in found.values())
    assert found["fay"].said == [{"run": one.ill.lower(), "cause": "", "evidence": []}]


@pytest.mark.slow
def test_a_change_that_breaks(tmp_path: Path) -> None:
    task = breaking.load(BROKEN)
    right = solution(task)
    loop = "# %% Training\n"
    assert right.count(loop) == 1
    raises = right.replace(loop, f"{loop}raise ValueError('mine')\n")
    from bugzoo.proving import broken

    both = dict(broken.wrong(task))[f"{broken.BOTH}loop/stale_gradients"]
    patched = dict(broken.wrong(task))["attack: instruments replaced"]
    student = json.loads(build_breaking(task))
    cheated = json.loads(build_breaking(task))
    cell(cheated, "graded")["source"] = ["10.0"]
    found = graded(
        tmp_path,
        BROKEN,
        {
            "ada": json.loads(build_breaking(task, "solution")),
            "ben": edited(both),
            "cem": student,
            "dot": without(edited(right), "program-training"),
            "eve": edited(raises),
            "fay": edited(patched),
            "gus": without(edited(right), "graded"),
            "hal": cheated,
        },
    )
    assert {name: (record.state, record.points) for name, record in found.items()} == {
        "ada": ("passed", 10.0), "ben": ("wrong", 5.0), "cem": ("not attempted", 0.0), "dot": ("not attempted", 0.0),
        "eve": ("your code raised", 0.0), "fay": ("wrong", 0.0), "gus": ("passed", 10.0), "hal": ("not attempted", 0.0),
    }  # fmt: skip
    assert any("no cell begins with `%%program Training`" in note for note in found["dot"].notes)
    assert "mine" in json.dumps(found["eve"].repair)
    assert any("'graded' was changed" in note for note in found["hal"].notes)
    assert all(record.diagnosis is None for record in found.values())


@pytest.mark.slow
def test_the_command_gives_a_table_and_a_gradebook(tmp_path: Path) -> None:
    """Twice: the second call grades nothing again and says the same."""
    one = lineup.load(WELL)
    hand_in(tmp_path / "in", "ada", answered(WELL, "# Nothing"), one.name)
    words = [
        sys.executable,
        "-m",
        "bugzoo",
        "grade",
        tmp_path / "in",
        "--assignment",
        WELL,
        "--csv",
        tmp_path / "book.csv",
    ]
    (tmp_path / "class.csv").write_text("student_id,last_name,first_name,email\nada,Love,Ada,\nzed,Zed,,\n")
    for _ in range(2):
        done = subprocess.run(
            [*map(str, words), "--students", str(tmp_path / "class.csv")],
            env=os.environ | {"COLUMNS": "160"}, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "not attempted" in done.stdout and "0 of 10" in done.stdout and "not handed in" in done.stdout
    rows = (tmp_path / "book.csv").read_text().splitlines()
    assert rows[1].startswith(f"{one.name},") and ",10.0,,0.0,not attempted" in rows[1]


def test_a_name_of_a_folder_comes_first_and_other_commands_refuse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for given, name in ((ILL, lineup.load(ILL).name), ("21", "21_never_bites"), ("16", "16_flat_loss")):
        assert tasks.to_grade(given).name == name
    with pytest.raises(UserError, match="neither a folder nor an exercise"):
        tasks.load("21")
    monkeypatch.chdir(tmp_path)
    Path("05").mkdir()
    with pytest.raises(UserError, match="holds no answer key"):
        tasks.to_grade("05")


def test_every_one_of_them_can_be_handed_out() -> None:
    for name in (*lineup.lineups(), *breaking.breakings()):
        task = tasks.to_grade(name)
        made = task.original()
        cells = {one["metadata"]["nbgrader"]["grade_id"] for one in made["cells"] if "nbgrader" in one["metadata"]}
        assert {one for one in task.cells if one} <= cells and sum(task.points) == task.max_points == 10
        assert task.fingerprint() == tasks.to_grade(name).fingerprint()


@pytest.mark.parametrize(
    ("code", "run", "trouble"),
    [
        ("board.hand_in('B', 'x', ['a'])", "B", ""),
        ("board.hand_in(run=3)", "3", ""),
        ("board.hand_in('B', 'x', [], 1)", "", "TypeError: hand_in takes names"),
        ("form.hand_in(cause='x')", "", "NameError"),
        ("board.hand_in(['B'] * 10 ** 4)", "['B', 'B'", ""),
        ("pass", "", ""),
    ],
)
def test_what_the_answer_cell_hands_in(code: str, run: str, trouble: str) -> None:
    given, said = diagnosis_cell.chosen(code, ("x",))
    assert str(given.get("run", "")).startswith(run) and len(str(given)) < 400
    assert bool(given) is bool(run) and said.startswith(trouble) and bool(said) is bool(trouble)


def test_forms_still_take_names_only() -> None:
    assert diagnosis_cell.records("form.hand_in('x')")[1].startswith("TypeError")
    records, said = diagnosis_cell.records("form.hand_in(cause='x', place=3)")
    assert not said and records[3]["cause"] == "x" and records[3]["place"] == 3


def test_gradescope_grades_it_as_well(tmp_path: Path) -> None:
    from bugzoo.instructor.lms import autograder, autograder_zip

    autograder_zip.write(ILL, tmp_path / "a.zip")
    with zipfile.ZipFile(tmp_path / "a.zip") as file:
        (tmp_path / "source").mkdir()
        (tmp_path / "source/autograder.json").write_bytes(file.read("autograder.json"))
    one = lineup.load(ILL)
    (tmp_path / "submission").mkdir()
    made = answered(ILL, call(filled(one)))
    (tmp_path / f"submission/{one.name}.ipynb").write_text(json.dumps(made))
    record = autograder.grade(tmp_path)
    assert (record.state, record.points) == ("passed", 10.0)
