"""The real nbgrader on an assignment's folder: the student's version, the right points with parts, and its own export."""

import csv
import json
from pathlib import Path

import nbformat
import pytest

from bugzoo.instructor.gradebook import COLUMNS
from tests.exercises.course import Course
from tests.instructor.class_of import answer, by_buttons, clear_gradients, hand_in

NAME = "week_3"
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]


@pytest.fixture(scope="module")
def course(week: Path, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """`bugzoo assign`'s folder is the course's, as it is."""
    return Course(tmp_path_factory.mktemp("nbgrader"), week)


@pytest.mark.sampled(0)
def test_round_trip(course: Course, week: Path) -> None:
    released = nbformat.read(course.generate(NAME), as_version=4)
    handed_out = nbformat.read(week / f"student/{NAME}.ipynb", as_version=4)
    assert [cell.source for cell in released.cells] == [cell.source for cell in handed_out.cells]
    assert released.metadata.bugzoo == handed_out.metadata.bugzoo

    submitted = course.folder / "submitted"
    course.hand_in("solved", NAME, week / "instructor/solution.ipynb")
    half = json.loads((week / f"student/{NAME}.ipynb").read_text())
    clear_gradients(half)
    hand_in(submitted, "half", half, NAME)
    course.hand_in("unsolved", NAME, week / f"student/{NAME}.ipynb")
    pressed = by_buttons(week, NAME)
    hand_in(submitted, "pressed", pressed, NAME)
    answer(pressed, "first.hand_in(cause='wrong data or wrong labels', place=1)")
    hand_in(submitted, "both", pressed, NAME)
    course.autograde(NAME)
    assert course.points(NAME, "solved") == {"repair": (7.0, 7.0), "diagnosis": (3.0, 3.0)}
    assert course.points(NAME, "half") == {"repair": (2.1, 7.0), "diagnosis": (0.0, 3.0)}
    assert course.points(NAME, "unsolved") == {"repair": (0.0, 7.0), "diagnosis": (0.0, 3.0)}
    assert course.points(NAME, "pressed") == {"repair": (7.0, 7.0), "diagnosis": (3.0, 3.0)}
    assert course.points(NAME, "both") == {"repair": (7.0, 7.0), "diagnosis": (0.75, 3.0)}, "the typed call counts"

    course.call("export")
    with (course.folder / "grades.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS  # ours are named as theirs
    assert {row["student_id"]: row["score"] for row in rows} == {
        "solved": "10.0", "half": "2.1", "unsolved": "0.0", "pressed": "10.0", "both": "7.75"
    }  # fmt: skip
    assert {row["max_score"] for row in rows} == {"10.0"}
