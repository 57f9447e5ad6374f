"""The real nbgrader: the instructor's version becomes the student's, and hand-ins get the points that they should."""

from pathlib import Path
from typing import Any

import nbformat
import pytest

from bugzoo.grading.exercises import exercises
from bugzoo.grading.notebook import STUB
from tests.exercises.course import ROOT, Course
from tests.sampling import only_in_prove

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]
ROUND_TRIP = "02_five_beginnings"
"""All exercises are made by one function out of one template. The gate takes one all the way whose runs are recorded."""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return Course(tmp_path_factory.mktemp("nbgrader"))


def _cells(path: Path) -> list[tuple[Any, ...]]:
    """What a student sees and what a grader reads of each cell; nbgrader adds a checksum and the cell's type."""
    added = ("checksum", "cell_type")
    rows = []
    for cell in nbformat.read(path, as_version=4).cells:
        metadata = {key: value for key, value in cell.metadata.items() if key != "nbgrader"}
        theirs = {key: value for key, value in cell.metadata.get("nbgrader", {}).items() if key not in added}
        rows.append((cell.id, cell.cell_type, cell.source, metadata, theirs))
    return rows


@pytest.mark.parametrize("name", [only_in_prove(name) for name in exercises() if name != ROUND_TRIP])
def test_nbgrader_makes_the_student_notebook_that_is_in_git_for_a_class(course: Course, name: str) -> None:
    as_in_git(course, name)


def as_in_git(course: Course, name: str) -> None:
    """But for what only a class reads: a paragraph more below some texts, and the cell for a hand-in by code open."""
    generated, committed = _cells(course.generate(name)), _cells(ROOT / "exercises" / f"{name}.ipynb")
    for cell, (key, kind, text, metadata, theirs) in zip(generated, committed, strict=True):
        if key == "diagnosis-answer":
            folded = {"jupyter": {"source_hidden": True}}
            assert text == "" and cell == (key, kind, STUB, cell[3], theirs) and metadata == cell[3] | folded != cell[3]
        else:
            more = cell[2].removeprefix(text)
            assert cell == (key, kind, text + more, metadata, theirs) and (not more or "class" in more), key
    points = [points for points in exercises()[name].points if points]  # a *break* exercise has none for a diagnosis
    assert [cell[4]["points"] for cell in generated if cell[4].get("grade")] == points


OF_EACH_KIND = (
    "17_second_opinion", "06_knows_nothing", "10_restless_loss", "18_one_behind_the_other", "27_small_parts",
    "29_through_the_wall",
)  # fmt: skip


HANDED_IN = [("solved", name) for name in OF_EACH_KIND] + [("unsolved", name) for name in (ROUND_TRIP, *OF_EACH_KIND)]


def test_all_the_way(course: Course) -> None:
    as_in_git(course, ROUND_TRIP)
    graded(course, "solved", ROUND_TRIP)


@pytest.mark.parametrize(("student", "name"), [only_in_prove(*one) for one in HANDED_IN])
def test_autograde_gives_the_right_points(course: Course, student: str, name: str) -> None:
    graded(course, student, name)


def graded(course: Course, student: str, name: str) -> None:
    if not (course.folder / "release" / name).exists():  # the test above may have been left out
        course.generate(name)
    course.hand_in(student, name, ROOT / {"solved": "solutions", "unsolved": "exercises"}[student] / f"{name}.ipynb")
    course.autograde(name, student)
    points = {cell: most for cell, most in zip(("repair", "diagnosis"), exercises()[name].points, strict=True) if most}
    assert course.points(name, student) == {cell: (most * (student == "solved"), most) for cell, most in points.items()}
