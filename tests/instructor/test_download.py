"""A class as Moodle and Canvas hand it over, from the download to the gradebook."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bugzoo.draws import draw, settle
from bugzoo.errors import UserError
from bugzoo.instructor import Assignment, tasks, write
from bugzoo.instructor.collecting import collect
from bugzoo.instructor.roster import Student
from bugzoo.instructor.students import Own
from bugzoo.instructor.variants import variant
from tests.cli.conftest import bugzoo  # noqa: F401
from tests.instructor.class_of import cell, graded_on_two_seeds, text, written_proof

OPEN = ("numerics/log_at_step?step=40..60&eps=0",)
PEOPLE = {"ada": ("Lovelace", "Ada", 100200), "ben": ("Müller", "Ben", 100201), "cem": ("Öz", "Cem Ali", 100202)}
ROSTER = "student_id,last_name,first_name\nada,Lovelace,Ada\nben,Müller,Ben\ncem,Öz,Cem Ali\n"


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An assignment with a variant for each student, on disk."""
    base = Assignment("mlp", tuple(map(settle, OPEN)), title="Week 5")
    drafts = []
    for name, (last, first, _) in PEOPLE.items():
        lot = draw("correct horse battery staple", base.name, name)
        drafts.append(Own(Student(name, last, first), variant(base, OPEN, lot), lot.tag))
    return graded_on_two_seeds(write(written_proof(base), tmp_path_factory.mktemp("download") / "week_5", drafts))


def notebook(week: Path, student: str, *, repaired: bool = False) -> dict[str, Any]:
    """A student's notebook as handed out, or with the solution's program."""
    handed_out, solved = (
        json.loads((week / path).read_text(encoding="utf-8"))
        for path in (f"student/{student}/week_5.ipynb", "instructor/solution.ipynb")
    )
    for entry in handed_out["cells"]:
        if repaired and entry["id"].startswith("program-") and entry["id"] != "program-text":
            entry["source"] = cell(solved, entry["id"])["source"]
    return handed_out


def put(path: Path, made: dict[str, Any] | str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(made if isinstance(made, str) else json.dumps(made), encoding="utf-8")


def moodle(folder: Path, student: str, made: dict[str, Any] | str, name: str = "week_5.ipynb") -> None:
    last, first, number = PEOPLE[student]
    put(folder / f"{first} {last}_{number}_assignsubmission_file_" / name, made)


def test_both_downloads_find_their_students(week: Path, tmp_path: Path) -> None:
    task = tasks.load(str(week))
    for student in PEOPLE:
        moodle(tmp_path / "moodle", student, notebook(week, student))
    for student, start in {"ada": "lovelaceada_4711", "ben": "müllerben_LATE_4712", "cem": "özcemali_4713"}.items():
        put(tmp_path / "canvas" / f"{start}_998877_week_5-1.ipynb", notebook(week, student))
    for layout in "moodle", "canvas":
        submissions = collect(tmp_path / layout, task)
        assert [(submission.student, submission.problem, submission.upload_notes) for submission in submissions] == [
            (name, "", ()) for name in PEOPLE
        ]
        assert all(
            task.owner(submission.student, submission.tag) == (submission.student, "") for submission in submissions
        )


def test_without_a_class_list_files_are_students(tmp_path: Path) -> None:
    """An exercise and no roster: the names stay, and a map alone gives others."""
    task = tasks.load("04_flat_loss")
    for name in "x_1_2_a.ipynb", "y.ipynb":
        put(tmp_path / name, task.original())
    assert [submission.student for submission in collect(tmp_path, task)] == ["x_1_2_a", "y"]
    assert [submission.student for submission in collect(tmp_path, task, mapped={"x_1_2_a.ipynb": "ada"})] == [
        "ada",
        "y",
    ]


def test_a_notebook_that_cannot_be_graded_still_says_whose_it_is(week: Path, tmp_path: Path) -> None:
    shortened = notebook(week, "ben")
    shortened["cells"] = shortened["cells"][:3]
    put(tmp_path / "final.ipynb", shortened)
    (submission,) = collect(tmp_path, tasks.load(str(week)), unmatched=True)
    assert submission.student == "ben" and "is missing" in submission.problem and submission.broken


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        ({"format": "bugzoo-assignment/2", "students": {}}, "this bugzoo reads bugzoo-assignment/1"),
        ({"students": {}}, "has the format None"),
        ({"format": "bugzoo-assignment/1", "students": []}, "'students' is"),
        ([], "is missing or is not JSON"),
        (None, "is missing or is not JSON"),
    ],
)
def test_a_manifest_of_another_format_is_refused(week: Path, tmp_path: Path, manifest: Any, said: str) -> None:
    """Without it each student would be graded by the variant of nobody."""
    folder = tmp_path / "instructor"
    folder.mkdir()
    (folder / "key.json").write_bytes((week / "instructor/key.json").read_bytes())
    if manifest is not None:
        (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(UserError) as caught:
        tasks.load(str(tmp_path))
    assert said in str(caught.value)


def rows(path: Path) -> dict[str, dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return {row["student_id"]: row for row in csv.DictReader(file)}


@pytest.mark.usefixtures("sandboxed")
@pytest.mark.slow
def test_a_class_from_moodle(bugzoo: Callable, week: Path, tmp_path: Path) -> None:  # noqa: F811
    """Ada repaired hers and renamed it, Ben's has a syntax error, Cem uploads Ada's as handed out."""
    folder, roster, book = tmp_path / "moodle", tmp_path / "class.csv", tmp_path / "book.csv"
    moodle(folder, "ada", notebook(week, "ada", repaired=True), "mine.ipynb")
    wrong = notebook(week, "ben")
    cell(wrong, "program-training")["source"] = [text(wrong, "program-training"), "\nfor = 1\n"]
    moodle(folder, "ben", wrong)
    moodle(folder, "cem", notebook(week, "ada"))
    roster.write_text(ROSTER + "dot,Matrix,Dot\n", encoding="utf-8")
    words = ["grade", str(folder), "--assignment", str(week), "--students", str(roster), "--csv", str(book)]

    called = bugzoo(*words)
    assert called.code == 2 and "dot Dot Matrix" in called.err and "--unmatched ok" in called.err
    assert not book.exists() and not list(tmp_path.glob("*_graded/*/*")), "nothing was graded"

    called = bugzoo(*words, "--unmatched", "ok")
    assert called.code == 1 and "1 of 4 could not be graded: ben" in called.err, called.err
    by_student = rows(book)
    assert {name: row["score"] for name, row in by_student.items()} == {
        "ada": "7.0",
        "ben": "",
        "cem": "0.0",
        "dot": "0.0",
    }
    assert by_student["ada"]["notes"] == "the notebook was renamed to mine.ipynb"
    assert by_student["ben"]["notes"].startswith("cannot be graded: The program is not valid Python")
    assert by_student["cem"]["notes"] == "it is the notebook that was drawn for ada"
    assert by_student["dot"]["notes"] == "not handed in"

    roster.write_text(ROSTER, encoding="utf-8")
    called = bugzoo(*words, "--ungraded", "zero", f"--json={tmp_path}/all.json")
    assert called.code == 0 and "1 of 3 could not be graded: ben" in called.err and "dot" not in rows(book)
    assert rows(book)["ben"]["score"] == "0.0" and rows(book)["ben"]["notes"] == by_student["ben"]["notes"]
    entries = {student["student"]: student for student in json.loads((tmp_path / "all.json").read_text())["students"]}
    assert {name: "; ".join(student["notes"]) for name, student in entries.items()} == {
        name: row["notes"] for name, row in rows(book).items()
    }
    assert entries["ben"]["points"] == 0 and entries["ben"]["state"] == "cannot be graded"
