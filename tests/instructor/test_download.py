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
    own = []
    for name, (last, first, _) in PEOPLE.items():
        drawn = draw("correct horse battery staple", base.name, name)
        own.append(Own(Student(name, last, first), variant(base, OPEN, drawn), drawn.tag))
    return graded_on_two_seeds(write(written_proof(base), tmp_path_factory.mktemp("download") / "week_5", own))


def notebook(week: Path, student: str, *, repaired: bool = False) -> dict[str, Any]:
    """A student's notebook as handed out, or with the solution's program."""
    made, solved = (
        json.loads((week / path).read_text(encoding="utf-8"))
        for path in (f"student/{student}/week_5.ipynb", "instructor/solution.ipynb")
    )
    for one in made["cells"]:
        if repaired and one["id"].startswith("program-") and one["id"] != "program-text":
            one["source"] = cell(solved, one["id"])["source"]
    return made


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
        found = collect(tmp_path / layout, task)
        assert [(one.student, one.problem, one.upload_notes) for one in found] == [(name, "", ()) for name in PEOPLE]
        assert all(task.owner(one.student, one.tag) == (one.student, "") for one in found)


def test_without_a_class_list_files_are_students(tmp_path: Path) -> None:
    """An exercise and no roster: the names stay, and a map alone gives others."""
    task = tasks.load("04_flat_loss")
    for name in "x_1_2_a.ipynb", "y.ipynb":
        put(tmp_path / name, task.original())
    assert [one.student for one in collect(tmp_path, task)] == ["x_1_2_a", "y"]
    assert [one.student for one in collect(tmp_path, task, mapped={"x_1_2_a.ipynb": "ada"})] == ["ada", "y"]


def test_a_notebook_that_cannot_be_graded_still_says_whose_it_is(week: Path, tmp_path: Path) -> None:
    made = notebook(week, "ben")
    made["cells"] = made["cells"][:3]
    put(tmp_path / "final.ipynb", made)
    (one,) = collect(tmp_path, tasks.load(str(week)), unmatched=True)
    assert one.student == "ben" and "is missing" in one.problem and one.broken


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
    made = tmp_path / "instructor"
    made.mkdir()
    (made / "key.json").write_bytes((week / "instructor/key.json").read_bytes())
    if manifest is not None:
        (made / "manifest.json").write_text(json.dumps(manifest))
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
    found = rows(book)
    assert {name: row["score"] for name, row in found.items()} == {"ada": "7.0", "ben": "", "cem": "0.0", "dot": "0.0"}
    assert found["ada"]["notes"] == "the notebook was renamed to mine.ipynb"
    assert found["ben"]["notes"].startswith("cannot be graded: The program is not valid Python")
    assert found["cem"]["notes"] == "it is the notebook that was drawn for ada"
    assert found["dot"]["notes"] == "not handed in"

    roster.write_text(ROSTER, encoding="utf-8")
    called = bugzoo(*words, "--ungraded", "zero", f"--json={tmp_path}/all.json")
    assert called.code == 0 and "1 of 3 could not be graded: ben" in called.err and "dot" not in rows(book)
    assert rows(book)["ben"]["score"] == "0.0" and rows(book)["ben"]["notes"] == found["ben"]["notes"]
    told = {one["student"]: one for one in json.loads((tmp_path / "all.json").read_text())["students"]}
    assert {name: "; ".join(one["notes"]) for name, one in told.items()} == {
        name: row["notes"] for name, row in rows(book).items()
    }
    assert told["ben"]["points"] == 0 and told["ben"]["state"] == "cannot be graded"
