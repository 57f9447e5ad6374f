"""A diagnosis by clicking: a wrong cause is answered by what was seen, a second hand-in is practice."""

import sqlite3

import pytest

from bugzoo.grading.answers import right
from bugzoo.grading.exercises import load
from tests.browser.conftest import line_index
from tests.browser.test_exercise import text
from tests.browser.test_lesson_03 import until

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.sampled(0)]
NOTEBOOK, NAME = "exercises/04_flat_loss.ipynb", "04_flat_loss"
WRONG = "wrong data or wrong labels"


def choose(lab, cause: str, letter: str) -> str:
    """Choose a cause and the test with this letter, keep both, and return what the form says."""
    form = lab.show("hypothesis")
    form.locator(".bugzoo-is-cause label", has_text=cause).click()
    assert until(lambda: f"Which test tells “{cause}” from" in form.inner_text()), form.inner_text()
    form.locator(".bugzoo-is-test label", has_text=f"{letter}) ").click()
    form.locator("button", has_text="Keep").click()
    assert until(lambda: f"50 % {cause}" in form.inner_text()), form.inner_text()
    return form.inner_text()


def hand_in(lab, line: int, said: str) -> None:
    """Hand in a line of the program; 0: the first of the list."""
    form = lab.show("form")
    form.locator("select").select_option(index=line_index(form, line) if line else 1)
    form.locator("button", has_text="Hand in").click()
    assert until(lambda: said in form.inner_text()), form.inner_text()


def test_a_wrong_cause_a_right_one_and_a_second_hand_in(lab) -> None:
    answer = right(load(NAME))
    lab.open(NOTEBOOK)
    for name in ("setup", "look-first", "hypothesis", "form"):
        lab.run_cell(name)
    assert "usual: 0 to 0.7" in text(lab.outputs("look-first"))
    assert "First keep a guess in the form above" in text(lab.outputs("form"))
    assert "The question about the test is still open" not in choose(lab, WRONG, "A")
    lab.picture("diagnosis_first")
    lab.run_cell("form")
    hand_in(lab, 0, "Saved in 04_flat_loss.ipynb, graded as your first: run the cell below.")
    lab.run_cell("diagnosis")
    first = " ".join(text(lab.outputs("diagnosis")).split())  # lines are broken at the page's width
    assert "speaks against it" in first or "If it were that: " in first
    assert "wrong: 0 of 5 points" in first and "You were 50 % sure of this cause" in first, first
    lab.show("diagnosis")
    lab.picture("diagnosis_wrong")

    assert "What you change now is practice" in choose(lab, answer.causes[0], answer.test.letter)
    hand_in(lab, answer.places[0][0], "as practice: your first complete diagnosis is graded")
    lab.run_cell("diagnosis")
    second = " ".join(text(lab.outputs("diagnosis")).split())
    assert second.startswith(first), "the first complete diagnosis is the grade"
    assert "Practice: your latest diagnosis" in second and f"ok Cause: You named “{answer.causes[0]}”" in second, second
    assert "ok Test: " in second and lab.errors() == []
    lab.show("diagnosis")
    lab.picture("diagnosis_practice")


def test_a_guess_before_the_program_is_opened_is_noted_as_such(lab, server) -> None:
    lab.open("exercises/10_restless_loss.ipynb")
    lab.run_cell("setup")
    assert until(lambda: noted(server) == ["started", "listening"]), noted(server)
    lab.run_cell("hypothesis")
    choose(lab, right(load("10")).causes[0], "A")
    assert noted(server)[2:] == ["hypothesis"], "no cell was opened, although all are on the page"
    bar = lab.show("program-training")
    lab.picture("program_folded")
    bar.locator(".jp-Placeholder-content").click()
    assert until(lambda: noted(server)[2:] == ["hypothesis", "opened"]), noted(server)
    assert lab.errors() == []


def test_each_of_two_open_notebooks_notes_what_was_opened_in_it(lab, server) -> None:
    lab.open(NOTEBOOK)
    lab.run_cell("setup")
    lab.command("docmanager:open", {"path": "exercises/35_no_progress.ipynb"})
    lab.until(
        """() => { const context = window.jupyterapp.shell.currentWidget.context;
            return context.path.includes('35') && context.sessionContext?.session?.kernel?.status === 'idle'; }""",
        90,
        "a second notebook is open",
    )
    lab.run_cell("setup")
    assert until(lambda: noted(server, "35") == ["started", "listening"]), noted(server, "35")
    lab.command("docmanager:open", {"path": NOTEBOOK})
    lab.until(
        "() => window.jupyterapp.shell.currentWidget.context.path.includes('04')", 30, "the first one is shown again"
    )
    lab.page.evaluate(
        """() => { const notebook = window.jupyterapp.shell.currentWidget.content;
            const index = notebook.widgets.findIndex(cell => cell.model.id === 'program-training');
            notebook.widgets[index].inputHidden = false; notebook.scrollToItem(index, 'start'); }"""
    )
    assert until(lambda: "opened" in noted(server, NAME)), noted(server, NAME)
    assert "opened" not in noted(server, "35")


def noted(server, name: str = "10") -> list[str]:
    """Return the kinds of the notes on the ticket of an exercise, in order."""
    with sqlite3.connect(server.data / "record.sqlite") as record:
        query = "select kind from notes where ticket = ? order by rowid"
        return [kind for (kind,) in record.execute(query, (load(name).scenario.ticket,))]
