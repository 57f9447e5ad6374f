"""A program that passes and decides something by a counter: what its learner, its class and its proof are told."""

import json
from pathlib import Path

import pytest

from bugzoo import faults, record
from bugzoo.grading import cell, workbench
from bugzoo.grading.exercises import load
from bugzoo.grading.grade import WAITS
from bugzoo.grading.groups import GROUPS, NOT_ASKED, of_a_trap, sealed, state
from bugzoo.grading.model import FOR_A_PERSON, Check, Result
from bugzoo.grading.notebook import build
from bugzoo.grading.own_decisions import Decision
from bugzoo.grading.trials import Trial, of_case, verdict
from bugzoo.instructor import grade_class, tasks
from bugzoo.instructor.gradebook import notes
from bugzoo.lab.hints import tries
from bugzoo.scenario import Scenario
from tests.instructor.class_of import hand_in

NAME = "04_flat_loss"
SAID = WAITS.format(Decision(81, "if step > 5000:"))


def waited() -> Result:
    checks = [Check("run", "passed", "It ran.", group="runs"), Check("loss", "passed", "It is 0.1.", group="new_data")]
    return Result(FOR_A_PERSON, 0.0, checks, SAID, max_points=5.0)


@pytest.fixture
def learner(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path))
    monkeypatch.setattr(cell, "ask", lambda *_: waited())
    return load(NAME).handed_out


def test_the_sentence_names_the_line_and_the_reason() -> None:
    assert SAID.startswith("Every check passes, but a person looks first at line 81, `if step > 5000:`: ")
    assert "depends on a counter, a clock or the step" in SAID


def test_it_stands_in_place_of_passed_and_is_no_repair(learner: str, capsys) -> None:
    ticket = load(NAME).scenario.ticket
    for graded in (False, True):
        before = len(record.notes(ticket, "repair"))
        points = cell._answer(NAME, {"kind": "repair", "source": learner}) if graded else cell._tried(NAME, learner)
        printed = " ".join(capsys.readouterr().out.split())
        assert points == 0 and " ".join(SAID.split()) in printed and printed.startswith(FOR_A_PERSON)
        assert len(record.notes(ticket, "repair")) == before + 1 and tries(ticket) == 1
        assert not any(note.get("passed") for note in record.notes(ticket, "repair"))
    assert record.standing()[NAME]["passed"] is False and record.standing()[NAME]["attempts"] == 1


def test_only_a_graded_one_opens_the_debrief(learner: str, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr(workbench, "diagnosed", lambda *_: True)
    title = load(NAME).about_fault[0].title
    cell._tried(NAME, learner)
    cell.debrief(NAME)
    assert "opens once your repair passes" in capsys.readouterr().out
    cell._answer(NAME, {"kind": "repair", "source": learner})
    capsys.readouterr()
    cell.debrief(NAME)
    assert title in capsys.readouterr().out


def test_before_the_diagnosis_its_groups_are_told_and_a_trap_is_not() -> None:
    result = waited()
    assert [state(result, group) for group in GROUPS] == ["passed", NOT_ASKED, "passed", NOT_ASKED, NOT_ASKED]
    sealed_result = sealed(result)
    assert (sealed_result.status, sealed_result.message) == (FOR_A_PERSON, SAID) and all(
        check.saw == "" for check in sealed_result.checks
    )
    trap = sealed(of_a_trap(result))
    assert trap.status == "wrong" and not trap.message and SAID not in str(trap)


def test_a_class_gives_it_no_score_and_a_note(tmp_path: Path) -> None:
    task = tasks.load(NAME)
    hand_in(tmp_path / "in", "eve", json.loads(build(load(NAME), "student")), task.name)
    task.repair = lambda owner, source, records, strict, draw: waited()  # type: ignore[method-assign]
    [entry] = grade_class(tmp_path / "in", task, tmp_path / "kept", trust=True)
    assert (entry.state, entry.points) == (FOR_A_PERSON, None) and entry.repair is not None
    assert notes(entry) == [f"{FOR_A_PERSON}: {SAID}", "the diagnosis earned 0 of 5 points"]


def test_a_proof_takes_it_as_refused_for_a_pretence_and_asks_for_it_of_a_marked_repair() -> None:
    entry = {"status": FOR_A_PERSON, "share": 0.0, "saw": [SAID], "seconds": 0.0}
    for kind in ("degenerate", "attack"):
        assert verdict(Trial("", kind, "a text", ""), entry) == []
    assert f"must pass but is {FOR_A_PERSON}" in verdict(Trial("", "correct", "a text", ""), entry)[0]
    marked = Trial("", "correct", "a text", "", by_counter=True)
    assert verdict(marked, entry) == []
    assert f"must be {FOR_A_PERSON} but is passed" in verdict(marked, entry | {"status": "passed", "share": 1.0})[0]


def test_a_mark_names_a_repair_and_reaches_its_submission() -> None:
    for fault in faults.catalogue().values():
        assert set(fault.by_counter) <= set(fault.repairs), fault.id
    marks = {trial.name: trial.by_counter for trial in of_case(Scenario("mlp", ("numerics/log_at_step",)))}
    assert marks["never reached"] and sum(marks.values()) == 1
