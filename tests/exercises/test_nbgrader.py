"""The real nbgrader: the instructor's version becomes the student's, and hand-ins get the points that they should."""

from pathlib import Path
from typing import Any

import nbformat
import pytest

from bugzoo.grading.declared import everything
from tests.exercises.course import ROOT, Course

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]
ROUND_TRIP = ("10_restless_loss", "12_five_losses", "18_second_opinion", "39_it_grows")
"""A repair, five runs, one in which nothing is wrong, and one to be broken."""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return Course(tmp_path_factory.mktemp("nbgrader"))


def _cells(path: Path) -> list[tuple[Any, ...]]:
    """What a student sees and what a grader reads of each cell; nbgrader adds a checksum and the cell's type."""
    added = ("checksum", "cell_type")
    found = []
    for cell in nbformat.read(path, as_version=4).cells:
        ours = {key: value for key, value in cell.metadata.items() if key != "nbgrader"}
        theirs = {key: value for key, value in cell.metadata.get("nbgrader", {}).items() if key not in added}
        found.append((cell.id, cell.cell_type, cell.source, ours, theirs))
    return found


def _most(name: str) -> dict[str, float]:
    """Graded cell -> its points, as the declaration has them."""
    points = getattr(everything()[name], "points", 10.0)
    return dict(zip(("repair", "diagnosis"), points, strict=True)) if isinstance(points, tuple) else {"graded": points}


@pytest.mark.sampled(16)
@pytest.mark.parametrize("name", list(everything()))
def test_nbgrader_makes_the_student_notebook_that_is_in_git(course: Course, name: str) -> None:
    made, committed = _cells(course.generate(name)), _cells(ROOT / "exercises" / f"{name}.ipynb")
    assert made == committed
    assert [cell[4]["points"] for cell in made if cell[4].get("grade")] == list(_most(name).values())


@pytest.mark.parametrize("name", ROUND_TRIP)
def test_autograde_gives_the_right_points(course: Course, name: str) -> None:
    if not (course.folder / "release" / name).exists():  # the test above may have been left out
        course.generate(name)
    course.hand_in("solved", name, ROOT / "solutions" / f"{name}.ipynb")
    course.hand_in("unsolved", name, ROOT / "exercises" / f"{name}.ipynb")
    course.autograde(name)
    most = _most(name)
    assert course.points(name, "solved") == {cell: (points, points) for cell, points in most.items()}
    assert course.points(name, "unsolved") == {cell: (0.0, points) for cell, points in most.items()}
