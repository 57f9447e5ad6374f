"""An assignment that was written that day: both graders read its key, its notebooks and what its forms kept."""

import csv
import shutil
from pathlib import Path

import pytest

from bugzoo.cli import main
from tests.exercises.course import Course
from tests.handed_out.files import ASSIGNMENT, HERE
from tests.instructor.class_of import hand_in

FOLDER = HERE / ASSIGNMENT
POINTS = {"ada": 10.0, "ben": 5.1, "cem": 0.0}
"""All of it; one of two repairs with both findings, pressed and saved; the notebook as handed out."""

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]


def submitted(folder: Path, *students: str) -> Path:
    files = {
        "ada": FOLDER / "instructor/solution.ipynb",
        "ben": HERE / f"{ASSIGNMENT}_saved.ipynb",
        "cem": FOLDER / f"student/{ASSIGNMENT}.ipynb",
    }
    for student in students:
        hand_in(folder, student, files[student].read_text(encoding="utf-8"), ASSIGNMENT)
    return folder


def test_a_class_is_graded(tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path / ASSIGNMENT)
    book = tmp_path / "gradebook.csv"
    words = ["grade", submitted(tmp_path / "submitted", *POINTS), "--assignment", tmp_path / ASSIGNMENT, "--csv", book]
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    assert not stop.value.code
    with book.open(newline="", encoding="utf-8") as file:
        assert {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)} == POINTS


def test_nbgrader_gives_the_same_points(tmp_path: Path) -> None:
    course = Course(tmp_path, FOLDER)
    course.generate(ASSIGNMENT)
    submitted(course.folder / "submitted", "ben")
    course.autograde(ASSIGNMENT)
    assert sum(points for points, _ in course.points(ASSIGNMENT, "ben").values()) == POINTS["ben"]
