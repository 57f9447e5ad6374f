"""A variant for each student: the same one years later, another one for everybody else, and the key knows them all."""

import json
import re
from pathlib import Path

import pytest

from bugzoo.draws import draw, settle
from bugzoo.errors import UserError
from bugzoo.grading.program import join
from bugzoo.instructor import Assignment, key, write
from bugzoo.instructor.roster import Student
from bugzoo.instructor.students import Own
from bugzoo.instructor.submission import find, read
from bugzoo.instructor.tasks import AssignmentTask
from bugzoo.instructor.variants import read_secret, variant
from tests.instructor.class_of import written_proof

SECRET = "correct horse battery staple"
OPEN = ("numerics/log_at_step?step=40..60&eps=0",)


def test_version_1_is_frozen() -> None:
    """These values may never change: a class of years ago has to come out the same."""
    lot = draw(SECRET, "week_3", "ada")
    assert lot.tag == "bb8e8a11197b"
    assert lot.pick("seed", 0, 9999, True) == 3530
    assert settle(OPEN[0], lot.pick) == "numerics/log_at_step?step=51&eps=0"
    assert draw(SECRET, "week_3", "ada", attempt=1).tag == "5906011e76a8"


def test_everything_counts() -> None:
    words = [(SECRET, "week_3", "ada", 0), (SECRET + "x", "week_3", "ada", 0), (SECRET, "week_4", "ada", 0),
             (SECRET, "week_3", "ben", 0), (SECRET, "week_3", "ada", 1), (SECRET, "week_3a", "da", 0)]  # fmt: skip
    assert len({draw(*arguments).tag for arguments in words}) == len(words)
    with pytest.raises(UserError, match="version 1"):
        draw(SECRET, "week_3", "ada", version=2)


def test_values_stay_in_the_range() -> None:
    values = {draw(SECRET, "w", f"student{n}").pick("step", 40, 60, True) for n in range(300)}
    assert values == set(range(40, 61))
    numbers = [draw(SECRET, "w", f"student{n}").pick("eps", 0.1, 0.2, False) for n in range(100)]
    assert all(0.1 <= value <= 0.2 for value in numbers) and len(set(numbers)) > 80


def test_settle() -> None:
    assert settle("loss/double_softmax") == "loss/double_softmax"
    assert settle(OPEN[0]) == "numerics/log_at_step?step=50&eps=0"
    with pytest.raises(UserError, match=r"60\.\.40 runs backwards"):
        settle("numerics/log_at_step?step=60..40")
    with pytest.raises(UserError, match=r"two whole numbers, such as step=40\.\.60"):
        settle("numerics/log_at_step?step=a..60")
    with pytest.raises(UserError, match=r"40\.\.600000 is not allowed; step must be from 0 to 100000"):
        settle("numerics/log_at_step?step=40..600000")
    with pytest.raises(UserError, match="log_at_step"):
        settle("numerics/log_at_stop?step=4..6")


def test_secret(tmp_path: Path) -> None:
    (tmp_path / "course.secret").write_text(f" {SECRET}\n")
    assert read_secret(str(tmp_path / "course.secret"), {}) == SECRET
    assert read_secret("COURSE", {"COURSE": SECRET}) == SECRET
    for name, word in {"COURSE": "10 characters. At least 16", "NONE": "no such file and no such environment"}.items():
        with pytest.raises(UserError, match=word):
            read_secret(name, {"COURSE": "tooshort12"})


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An assignment with variants for two students, on disk."""
    base = Assignment("mlp", tuple(map(settle, OPEN)), title="Week 4")
    drafts = []
    for name in ("ada", "ben"):
        lot = draw(SECRET, base.name, name)
        drafts.append(Own(Student(name, name.title()), variant(base, OPEN, lot), lot.tag))
    return write(written_proof(base), tmp_path_factory.mktemp("variants") / "week_4", drafts)


def test_two_students(two: Path) -> None:
    """Other seeds, other parameters, other tickets; the notebooks hold a tag and nothing that names a student."""
    notebooks = {name: json.loads((two / f"student/{name}/week_4.ipynb").read_text()) for name in ("ada", "ben")}
    about = {name: notebook["metadata"]["bugzoo"] for name, notebook in notebooks.items()}
    assert about["ada"]["ticket"] != about["ben"]["ticket"]
    assert about["ada"]["variant"]["tag"] != about["ben"]["variant"]["tag"]
    assert about["ada"]["variant"].keys() == {"version", "tag"}
    for notebook in notebooks.values():  # the packed program is any letters
        notebook["cells"] = [cell for cell in notebook["cells"] if cell["id"] != "program-text"]
    for name, other in (("ben", "ada"), ("log_at", "ben")):  # as a word: among packed letters there may be any
        assert not re.search(rf"\b{name}\b", json.dumps(notebooks[other]).lower())


def test_the_key_recovers_them(two: Path) -> None:
    task = AssignmentTask(key.read(two))
    for name in ("ada", "ben"):
        assignment, answers = task.key.of(name)
        (handed_in,) = (handed_in for handed_in in find(two / "student", "week_4") if handed_in.student == name)
        handed_in = read(handed_in, task.original())
        assert handed_in.problem == "" and join(handed_in.sections) == assignment.source != task.key.assignment.source
        lot = draw(SECRET, "week_4", name)
        assert assignment.seed == lot.pick("seed", 0, 9999, True) and handed_in.tag == lot.tag
        assert (
            answers[0].spec == assignment.faults[0]
            and answers[0].cause == "a function outside its domain, such as log or sqrt"
        )
        assert task.owner(name, handed_in.tag) == (name, "")
    assert task.owner("ben", draw(SECRET, "week_4", "ada").tag) == (
        "ada",
        "it is the notebook that was drawn for ada",
    )
    assert task.owner("ben", "f" * 12) == ("ben", "it was drawn for a student who is not in the manifest")
    assert task.key.of("nobody")[0] == task.key.assignment
