"""Points are those that the real nbgrader gives, hand-in by hand-in; where they are not, the table says so."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bugzoo.instructor import grade_class, gradebook, tasks
from tests.exercises.course import Course
from tests.instructor.class_of import answer, hand_in, replace, text

NAME = "week_3"
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]
Made = dict[str, Any]


def without(*names: str) -> Callable[[Made], None]:
    return lambda made: made.update(cells=[one for one in made["cells"] if one["id"] not in names])


def writing(new: str) -> Callable[[Made], None]:
    """The training's `loss.backward()` in another way."""
    return lambda made: replace(made, "program-training", "loss.backward()", new)


HAND_INS: dict[str, Callable[[Made], None]] = {
    "right": lambda made: None,
    "no_python": writing("loss.backward(("),
    "raises": writing("loss.backward(); 1 / 0"),
    "no_data_cell": without("program-data"),
    "no_training_cell": without("program-training"),
    "no_answer_cell": without("diagnosis-answer"),
    "diagnosis_is_no_python": lambda made: answer(made, text(made, "diagnosis-answer") + "\n)"),
    "no_seed": lambda made: replace(made, "program-settings", "seed = 7", "my_seed = 7"),
}
"""What is done to a whole solution."""
STATES = {
    "right": "passed", "no_python": "your code raised", "raises": "your code raised", "no_data_cell": "passed",
    "no_training_cell": "wrong", "no_answer_cell": "passed", "diagnosis_is_no_python": "passed", "no_seed": "cannot be graded",
}  # fmt: skip


def test_hand_in_by_hand_in(week: Path, tmp_path: Path, sandboxed: None) -> None:
    course = Course(tmp_path)
    shutil.rmtree(course.folder)
    shutil.copytree(week, course.folder)
    course.generate(NAME)
    for name, change in HAND_INS.items():
        made = json.loads((week / "instructor/solution.ipynb").read_text(encoding="utf-8"))
        change(made)
        hand_in(course.folder / "submitted", name, made, NAME)
    task = tasks.load(str(week))
    ours = {one.student: one for one in grade_class(course.folder / "submitted", task, tmp_path / "kept")}
    assert {name: one.state for name, one in ours.items()} == STATES
    for name in HAND_INS:  # one by one: nbgrader's own limit of time is for each call
        course.autograde(NAME, name)
    for name, one in ours.items():
        parts = {"repair": one.repair, "diagnosis": one.diagnosis}
        theirs = {part: points for part, (points, _) in course.points(NAME, name).items()}
        if one.points is not None:
            assert {part: found["points"] for part, found in parts.items() if found} == theirs, name
            assert one.points == sum(theirs.values()), name
            continue
        repair, diagnosis = (f"{theirs[part]:g}" for part in parts)
        said = f"no score, where nbgrader's autograde gives {repair} points for the repair and {diagnosis}"
        assert any(note.startswith(said) for note in one.notes) and said in gradebook.why(one), name
    assert [name for name, one in ours.items() if one.points is None] == ["no_seed"]
