"""The two forms of a *two* exercise: complete only together, kept through a restart, and in every kind of notebook."""

import json
from typing import Any

import pytest

from bugzoo import record
from bugzoo.errors import UserError
from bugzoo.grading import cell, handed_in
from bugzoo.grading.answers import filled, grade_diagnosis
from bugzoo.grading.exercises import load
from bugzoo.grading.kinds.two import FORMS
from bugzoo.grading.kinds.two.findings import KEY
from bugzoo.grading.model import Result
from bugzoo.grading.notebook import build
from bugzoo.grading.workbench import Program
from bugzoo.lab.hints import tries
from bugzoo.proving import leaks

NAME = "18_one_behind_the_other"
FIRST, SECOND = load(NAME).forms
ONE, OTHER = (filled(load(NAME), of) for of in (0, 1))


@pytest.fixture(autouse=True)
def own_record(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path))


def hand_in(number: int, given: dict[str, Any], **changed: Any) -> Any:
    form = cell.form(NAME, number)
    form.hand_in(**{**given, **changed})
    return form


def test_the_diagnosis_is_complete_with_both_forms_and_what_stood_then_is_graded() -> None:
    program = Program()
    program.begin(NAME)
    assert [note["exercise"] for note in record.opened()] == [NAME]
    hand_in(1, ONE, place=1)
    assert not program.diagnosed and handed_in.counted((FIRST, SECOND)) is None and len(record.opened()) == 1
    hand_in(1, ONE)  # nothing was told yet, so it may still be changed
    hand_in(2, OTHER, cause="", test="")
    assert not program.diagnosed, "the second form has no cause"
    hand_in(2, OTHER)
    hand_in(2, OTHER, place=1)  # practice
    assert program.diagnosed and record.opened() == []
    counted = handed_in.counted((FIRST, SECOND))
    assert counted and [note["place"] for note in counted[KEY]] == [ONE["place"], OTHER["place"]]
    assert grade_diagnosis(NAME, counted).points == 10.0
    last = handed_in.last((FIRST, SECOND))
    assert last and last["at"] > counted["at"] and grade_diagnosis(NAME, last).points == 9.0


def test_one_form_is_not_graded_and_the_cell_says_what_to_do(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    questions: list[Any] = []
    monkeypatch.setattr(cell, "ask", lambda name, question: questions.append(question) or Result("wrong"))
    hand_in(2, OTHER)
    assert cell.diagnosis(NAME) == 0 and questions == []
    printed = " ".join(capsys.readouterr().out.split())
    assert "in both forms above the program" in printed and "choose “nothing is wrong” in the other form" in printed
    cell.repair(NAME, "seed = 0")
    assert questions.pop()["kind"] == "try", "a repair earns nothing before both are complete"
    cell.debrief(NAME)
    assert "once you have handed in your diagnosis" in capsys.readouterr().out
    hand_in(1, {"cause": "nothing is wrong", "test": "A"})
    cell.diagnosis(NAME)
    assert [finding["cause"] for finding in questions[-1]["diagnosis"][KEY]] == ["nothing is wrong", OTHER["cause"]]
    cell.repair(NAME, "seed = 0")
    assert questions[-1]["kind"] == "repair" and len(questions[-1]["diagnosis"][KEY]) == 2


def test_another_kernel_goes_on_with_both(capsys: Any) -> None:
    hand_in(2, OTHER)
    assert cell.form(NAME, 2).diagnosis.cause == OTHER["cause"] and cell.form(NAME, 1).diagnosis.cause == ""
    printed = capsys.readouterr().out
    assert "Finding 2. Diagnosis: second.hand_in(" in printed and "first.asked(cause)" in printed


@pytest.mark.parametrize(("name", "number"), [(NAME, 0), (NAME, 3), ("04", 2)])
def test_a_form_that_is_not_there(name: str, number: int) -> None:
    with pytest.raises(UserError, match=f"This exercise has no form {number}. Use 1"):
        cell.form(name, number)


def test_tries_in_either_form_open_hints_and_a_reset_forgets_all() -> None:
    hints = cell.hints(NAME)
    assert "opens after 1 try" in hints.next() and hints.cost == 0
    hand_in(1, ONE)
    hand_in(2, OTHER)
    assert [hints.next(), hints.next()] == list(load(NAME).hints[:2]) and "opens after 3 tries" in hints.next()
    assert hand_in(2, OTHER).diagnosis.hints == 2, "each form records how many were opened"
    record.forget(NAME, load(NAME).scenario.ticket)
    assert tries(FIRST) == tries(SECOND) == 0 and cell.form(NAME, 1).diagnosis.cause == ""


def test_what_was_looked_at_counts_for_both(monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program()
    program.begin(NAME)
    for ticket in program._forms:
        record.note(ticket, "looked", {"view": "loss_curve"})
    assert program._forms == (FIRST, SECOND)
    assert [hand_in(number, {"cause": "something else"}).diagnosis.evidence for number in (1, 2)] == [
        ["loss_curve"]
    ] * 2
    program.begin("04")
    assert program._forms == ()


@pytest.mark.parametrize("kind", ["student", "solution", "instructor"])
def test_the_notebook_has_a_call_for_each_form(kind: str) -> None:
    cells = {part["id"]: "".join(part["source"]) for part in json.loads(build(load(NAME), kind))["cells"]}
    for number, form in enumerate(FORMS, 1):
        assert f'{form} = cell.form("{NAME}", {number})' in cells["hypothesis"]
        assert f"{form}.line()" in cells["form"]
        assert (f"{form}.hand_in(" in cells["diagnosis-answer"]) == (kind != "student")
    assert "earns half" in cells["grading-text"] and "Six hints" in cells["hints-text"]
    for part in ("diagnosis-text", "grading-text"):
        assert ("class" in cells[part]) == (kind == "instructor"), "a learner is in none"


def test_a_curious_learner_uses_the_names_of_both_forms() -> None:
    text = leaks.probe(load(NAME))
    assert "first.hand_in(" in text and "second.hand_in(" in text and "first.diagnosis" in text and "form.d" not in text
    words = leaks.names(load(NAME))
    assert {"a wrong learning rate", "wrong_axis_reduction", "rmsprop_momentum"} <= words
