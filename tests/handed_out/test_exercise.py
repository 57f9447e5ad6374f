"""An exercise that was handed out: solved and half finished, in the real nbgrader course of that day."""

import json
from pathlib import Path

import pytest

from tests.exercises.course import Course
from tests.handed_out.files import EXERCISE, HERE, cells, filled

MOST = 5.0
HALF = "cross_entropy(F.softmax(logits, dim=-1), targets)"

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]


def half_finished(text: str) -> str:
    """A guess is kept, a line of the program is broken in the middle, and the student has gone to bed."""
    behind = {"form": 'form.hand_in(cause="a wrong learning rate")'}
    program = next(name for name, cell in cells(text).items() if HALF in "".join(cell["source"]))
    return filled(text, behind, {program: (HALF, "cross_entropy(")})


def test_nbgrader_gives_the_points_of_that_day(tmp_path: Path) -> None:
    course = Course(tmp_path, HERE / "nbgrader")
    released = cells(course.generate(EXERCISE).read_text(encoding="utf-8"))
    student = (HERE / f"{EXERCISE}.ipynb").read_text(encoding="utf-8")
    assert [cell["source"] for cell in released.values()] == [cell["source"] for cell in cells(student).values()]
    course.hand_in("solved", EXERCISE, HERE / f"{EXERCISE}_solved.ipynb")
    (tmp_path / "half.ipynb").write_text(half_finished(student), encoding="utf-8")
    course.hand_in("half", EXERCISE, tmp_path / "half.ipynb")
    course.autograde(EXERCISE)
    assert course.points(EXERCISE, "solved") == {"repair": (MOST, MOST), "diagnosis": (MOST, MOST)}
    assert course.points(EXERCISE, "half") == {"repair": (0.0, MOST), "diagnosis": (0.0, MOST)}
    graded = (course.folder / f"autograded/half/{EXERCISE}/{EXERCISE}.ipynb").read_text(encoding="utf-8")
    assert "Traceback" not in json.dumps(cells(graded)["repair"]), "it is told in words"
