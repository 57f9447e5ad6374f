"""After a wrong first diagnosis the cause is still to be found: what the cells then print, and what they keep."""

from pathlib import Path
from typing import Any

import pytest

from bugzoo.grading import cell
from bugzoo.grading.answers import filled
from bugzoo.grading.exercises import load
from bugzoo.grading.model import Check, Result

NAME = "10_restless_loss"
FAILED = Result(
    "wrong",
    checks=[
        Check("run", "passed", "It ran.", group="runs"),
        Check("fresh_gradient", "wrong", "Stale gradients in 9 of 10 steps.", group="gone"),
        Check("symptom", "passed", "The loss falls.", group="gone"),
    ],
    max_points=5.0,
)
NOT_IT = Result("wrong", message="In the view `outputs` ...", checks=[Check("cause", "wrong", "Not that one.")])


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The kinds of questions that the grader was asked; its answers are made here. The record is a new one."""
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path))
    kinds: list[str] = []

    def ask(name: str, question: dict[str, Any]) -> Result:
        kinds.append(question["kind"])
        return FAILED if question["kind"] == "repair" else NOT_IT

    monkeypatch.setattr(cell, "ask", ask)
    monkeypatch.setattr(cell, "_of_notebook", lambda name: "print(1)")
    return kinds


def hand_in(**changed: Any) -> None:
    cell.form(NAME).hand_in(**filled(load(NAME)) | changed)


def repaired(capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    cell.repair(NAME)
    return capsys.readouterr().out


@pytest.mark.usefixtures("asked")
def test_the_first_failed_repair_is_told_by_numbers_and_the_second_by_names(capsys: Any) -> None:
    hand_in(cause="something else")
    first, second = repaired(capsys), repaired(capsys)
    assert "wrong: 0 of 5 points" in first and "What was wrong is gone: 1 of 2 checks pass" in first
    assert "stale" not in first.lower() and "They open with a second failed repair" in first
    assert "Stale gradients in 9 of 10 steps." in second and "checks pass" not in second


@pytest.mark.usefixtures("asked")
def test_who_named_the_cause_or_gave_up_reads_every_check(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    hand_in()
    assert "Stale gradients" in repaired(capsys)
    from bugzoo import record

    record.forget(NAME, load(NAME).scenario.ticket)
    hand_in(cause="something else")
    hand_in()
    assert "Stale gradients" in repaired(capsys), "found in practice"
    record.forget(NAME, load(NAME).scenario.ticket)
    hand_in(cause="something else")
    monkeypatch.setattr(type(load(NAME).kind), "debrief", lambda *_: None)
    cell.debrief(NAME, give_up=True)
    assert "Stale gradients" in repaired(capsys)


def test_a_second_run_of_the_cell_reads_the_record(asked: list[str], capsys: Any) -> None:
    hand_in(cause="something else")
    printed = []
    for _ in range(2):
        cell.diagnosis(NAME)
        printed.append(capsys.readouterr().out)
    assert asked == ["diagnosis"] and printed[0].endswith(printed[1]) and "Not that one." in printed[1]
    hand_in()
    cell.diagnosis(NAME)
    assert asked == ["diagnosis"] * 2 and "Practice: your latest diagnosis" in capsys.readouterr().out


def test_what_the_machine_could_not_grade_is_asked_for_again(asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    hand_in(cause="something else")
    monkeypatch.setattr(cell, "ask", lambda name, question: asked.append("x") or Result("cannot be graded"))
    for _ in range(2):
        cell.diagnosis(NAME)
    assert asked == ["x", "x"]
