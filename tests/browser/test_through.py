"""Lessons and exercises gone through by clicks, all right and all wrong: what `--browser` of the two checks runs."""

import re
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from bugzoo import course
from bugzoo.course.questions import Choices
from bugzoo.course.source import Lesson
from bugzoo.grading.exercises import exercises, load
from bugzoo.lab.quiz_widgets import plain
from tests.browser import walk
from tests.browser.conftest import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.sampled(0)]


LESSONS = [name.split("_")[0] for name in course.files() if re.match(r"(?!00)\d\d_", name)]


@pytest.fixture
def learner(lab: Any, server: Any) -> Iterator[Any]:
    """A new learner: no record, notebooks as handed out, no kernel that has run."""
    shutil.rmtree(server.data, ignore_errors=True)
    for kind in ("notebooks", "exercises"):
        shutil.copytree(ROOT / kind, server.folder / kind, ignore=shutil.ignore_patterns(".*"), dirs_exist_ok=True)
    yield lab
    lab.page.evaluate("() => window.jupyterapp.serviceManager.sessions.shutdownAll()")


@pytest.mark.parametrize("way", walk.WAYS)
@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson(learner: Any, name: str, way: str) -> None:
    lesson = course.load(name)
    learner.open(f"notebooks/{lesson.file.stem}.ipynb")
    by_cell = walk.lesson(learner, lesson, way)
    for question in lesson.of("predict"):
        message = next(text for cell, text in reversed(by_cell.items()) if came_back(lesson, cell, question.name))
        assert "You said: " in message and "It was: " in message, message
        entry = lesson.questions[question.name]
        if isinstance(entry, Choices):
            reasons = [plain(why) for _, why, right in entry.answers if right]
            assert all(" ".join(why.split()) in " ".join(message.split()) for why in reasons), (question.name, message)
    for question in lesson.of("check"):
        feedback = by_cell[question.key]
        assert ("Right" if way == "right" else "Not quite") in feedback, feedback
    for task in lesson.tasks:
        message = " ".join(by_cell[task.replace("_", "-")].split())
        assert ("continues with the solution" in message) == (way == "wrong"), message
    graded(lesson, by_cell, way)


def came_back(asked: Lesson, cell: str, question: str) -> bool:
    return (
        re.search(rf"\b{question}\.reveal\(", next(part.text for part in asked.cells if part.key == cell)) is not None
    )


def graded(asked: Lesson, shown: dict[str, str], way: str) -> None:
    """The transfer is graded: everything right, or nothing but what every answer gets."""
    for cell in asked.cells:
        if "judged(" in cell.text and cell.kind == "code":
            match = re.search(r"(\d) of (\d) are right", shown[cell.key])
            assert match and (match[1] == match[2]) == (way == "right"), shown[cell.key]


@pytest.mark.parametrize("way", walk.WAYS)
@pytest.mark.parametrize("name", list(exercises()))
def test_an_exercise(learner: Any, name: str, way: str) -> None:
    exercise = load(name)
    learner.open(f"exercises/{name}.ipynb")
    if exercise.kind.name == "five":
        walk.five(learner, exercise, way)
    else:
        walk.exercise(learner, exercise, way)
        repair = walk.said(learner, "repair")
        assert (f"passed: {exercise.points[0]:g} of {exercise.points[0]:g}" in repair) == (way == "right"), repair
    if exercise.kind.name != "break":
        earned = walk.said(learner, "diagnosis")
        assert (f"{exercise.points[1]:g} of {exercise.points[1]:g} points" in earned) == (way == "right"), earned
    opens = way == "right" or exercise.kind.name == "five"  # an answer is enough: there is nothing to repair
    assert ("### Next" in walk.said(learner, "debrief")) == opens
    if way == "right":
        learner.theme("JupyterLab Dark")
        below = learner.show("debrief")
        below.locator("button", has_text="Another one like this").click()
        walk.says(below, f"{name}-1")
        learner.picture(f"{name}_another")
        below.locator("a", has_text=f"{name}-1").click()  # JupyterLab opens it in a tab
        assert walk.until(lambda: learner.page.locator(".jp-Notebook:visible h1", has_text="(2)").count() == 1)
        learner.picture(f"{name}_case")
