"""An assignment by mouse: choose, Hand in, save; the saved notebook earns full points in both graders."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bugzoo.instructor import Assignment, key, write
from bugzoo.instructor.form_records import MIME
from tests.browser.conftest import line_index
from tests.browser.test_exercise import text
from tests.browser.test_form import before_of
from tests.browser.test_lesson_03 import until
from tests.exercises.course import Course
from tests.instructor.class_of import cell, hand_in, written_proof

pytestmark = [
    pytest.mark.browser, pytest.mark.slow, pytest.mark.sampled(0),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]  # fmt: skip
NAME = "week_3"


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An assignment of one fault, as `bugzoo assign` writes it."""
    draft = Assignment("mlp", ("loop/stale_gradients",), seed=7, title="Week 3")
    return write(written_proof(draft), tmp_path_factory.mktemp("assignment") / NAME)


def repaired(week: Path) -> dict[str, Any]:
    """The student's notebook with the repair typed, and a view to open that shows what was wrong.

    The cells that only show a run are left out: nbgrader runs every cell again.
    """
    notebook = json.loads((week / f"student/{NAME}.ipynb").read_text())
    solution = json.loads((week / "instructor/solution.ipynb").read_text())
    for entry in notebook["cells"]:
        if entry["id"].startswith("program-") and entry["id"] != "program-text":
            entry["source"] = cell(solution, entry["id"])["source"]
    notebook["cells"] = [entry for entry in notebook["cells"] if entry["id"] not in ("look", "numbers", "look-first")]
    cell(notebook, "more")["source"] = [f'numbers = program.look("{key.read(week).answers[0].evidence[0]}")']
    return notebook


def kept(lab) -> list[dict[str, Any]]:
    """The records in the form's output."""
    return [output["data"][MIME] for output in lab.outputs("form") if MIME in output.get("data", {})]


def test_hand_in_and_save_is_enough_for_both_graders(lab, server, week: Path, tmp_path: Path) -> None:
    right = key.read(week).answers[0]
    place = server.folder / "notebooks" / f"{NAME}.ipynb"
    place.write_text(json.dumps(repaired(week)))
    lab.open(f"notebooks/{NAME}.ipynb")
    for name in ("setup", "program-text", "more", "form"):
        lab.run_cell(name)
    assert lab.errors() == [] and kept(lab) == []

    form = lab.show("form")
    form.locator("button", has_text="Hand in").click()
    assert until(lambda: "Choose a cause and a line first" in form.inner_text()), form.inner_text()
    form.locator(".bugzoo-is-cause label", has_text=right.cause).click()
    form.locator("button", has_text="Hand in").click()
    assert until(lambda: "Choose a line first" in form.inner_text()) and kept(lab) == []
    form.locator("select").select_option(index=line_index(form, right.places[0][0]))
    form.locator("button", has_text="Hand in").click()
    assert until(lambda: "Handed in at" in form.inner_text() and "Save the notebook" in form.inner_text())
    assert until(lambda: [record["cause"] for record in kept(lab)] == [right.cause]), lab.outputs("form")
    lab.picture("assignment_handed_in")

    # the kernel is gone, the form says so, and running its cell again loses nothing
    lab.page.evaluate("() => window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel.restart()")
    assert until(lambda: "and this cell again" in before_of(form)), before_of(form)
    for name in ("setup", "program-text", "form", "diagnosis"):
        lab.run_cell(name)
    assert [record["place"] for record in kept(lab)] == [right.places[0][0]]
    printed = text(lab.outputs("diagnosis"))
    assert f"finding 1: {right.cause}, line {right.places[0][0]}" in printed and "Save the notebook" in printed, printed
    lab.page.evaluate("() => window.jupyterapp.shell.currentWidget.context.save()")
    assert until(lambda: "finding 3: nothing" in place.read_text())

    saved = json.loads(place.read_text())
    assert "hand_in(cause" not in "".join(cell(saved, "diagnosis-answer")["source"]).replace('cause="..."', "")
    assert by_bugzoo(saved, week, tmp_path) == (7.0, 3.0)
    assert by_nbgrader(saved, week, tmp_path) == (7.0, 3.0)


def by_bugzoo(made: dict[str, Any], week: Path, folder: Path) -> tuple[float, float]:
    """Points for repair and diagnosis from `bugzoo grade`."""
    hand_in(folder / "submitted", "ada", made, NAME)
    words = ["grade", folder / "submitted", "--assignment", week, "--json", folder / "all.json"]
    words += ["--results", folder / "kept"]
    subprocess.run(
        [sys.executable, "-m", "bugzoo", *map(str, words)],
        env=os.environ | {"OMP_NUM_THREADS": "1"}, check=True, timeout=300, capture_output=True,
    )  # fmt: skip
    (ada,) = json.loads((folder / "all.json").read_text())["students"]
    assert ada["notes"] == [], ada["notes"]
    return ada["repair"]["points"], ada["diagnosis"]["points"]


def by_nbgrader(made: dict[str, Any], week: Path, folder: Path) -> tuple[float, float]:
    """Points for repair and diagnosis from the real nbgrader, in the folder as it was written."""
    course = Course(folder / "nbgrader")
    shutil.rmtree(course.folder)
    shutil.copytree(week, course.folder)
    course.generate(NAME)
    hand_in(course.folder / "submitted", "ada", made, NAME)
    course.autograde(NAME)
    points = course.points(NAME, "ada")
    return points["repair"][0], points["diagnosis"][0]
