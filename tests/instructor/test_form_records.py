"""What a form keeps in its output: read back as data from any notebook, however it was tampered with."""

import ast
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest

from bugzoo.instructor import Assignment, handout, key
from bugzoo.instructor.autograde import FormRecords
from bugzoo.instructor.diagnosis_cell import ANSWER, overridden, records
from bugzoo.instructor.form_records import FORMAT, LONGEST, MIME, FormRecord, call, latest, output, read
from bugzoo.instructor.submission import find
from bugzoo.instructor.submission import read as read_file
from tests.instructor.class_of import answer, cell, hand_in

TICKET = "C-1"
ONE = FormRecord(1, TICKET, 100.0, "a wrong learning rate", 57, ("loss_curve", "gradients"))


def shown(*data: Any, kind: str = "code") -> dict[str, Any]:
    """A cell whose outputs hold these records."""
    outputs = [{"output_type": "display_data", "data": bundle, "metadata": {}} for bundle in data]
    return {"cell_type": kind, "outputs": outputs, "source": ""}


def kept(**change: Any) -> dict[str, Any]:
    return {MIME: output(ONE)[MIME] | change}


def test_read_back_from_wherever_it_stands() -> None:
    notebook = {"cells": [shown({"text/plain": "x"}), shown(output(replace(ONE, form=2)), output(ONE))]}
    assert read(json.loads(json.dumps(notebook))) == ([replace(ONE, form=2), ONE], [])
    findings, notes = latest([ONE], TICKET)
    assert (
        findings == [{"cause": ONE.cause, "place": 57, "evidence": ["loss_curve", "gradients"]}, {}, {}] and not notes
    )


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"format": "bugzoo-diagnosis/2"}, f"not {FORMAT}"),
        ({"format": [[]]}, f"not {FORMAT}"),
        *(({"form": form}, "one of the 3 forms") for form in (0, 4, True, "1", None, [1], 10**400)),
        *(({"cause": cause}, "at most 200") for cause in (None, 3, ["a"], "a" * (LONGEST + 1))),
        *(({"ticket": ticket}, "at most 200") for ticket in (None, {"a": 1}, "a" * 10**6)),
    ],
)
def test_what_is_no_record(change: dict[str, Any], word: str) -> None:
    forms, notes = read({"cells": [shown(kept(**change))] * 3})
    assert forms == [] and len(notes) == 1 and word in notes[0], "said once, however often it is there"


@pytest.mark.parametrize("value", [None, 3, "x", [], [{"format": FORMAT}]])
def test_what_is_no_object(value: Any) -> None:
    assert read({"cells": [shown({MIME: value})]})[0] == []


@pytest.mark.parametrize(
    "cells",
    [3, None, [None, 3, "x", []], [{"outputs": 3}], [{"outputs": [None, 3, {"data": [MIME]}, {"data": None}]}]],
)
def test_strange_notebooks(cells: Any) -> None:
    assert read({"cells": cells}) == ([], [])


@pytest.mark.parametrize("place", ["57", 57.0, True, -3, 0, 10**7, 10**400, [57], None])
def test_only_a_whole_number_is_a_line(place: Any) -> None:
    ((entry,), _) = read({"cells": [shown(kept(place=place))]})
    assert entry.place is None and entry.cause == ONE.cause


def test_views_are_texts_of_a_limited_number() -> None:
    strange = ["a" * 10**4, 3, None, ["x"], *["loss_curve"] * 10**4]
    ((entry,), _) = read({"cells": [shown(kept(evidence=strange))]})
    assert entry.evidence[0] == "a" * LONGEST and set(entry.evidence[1:]) == {"loss_curve"}
    assert len(entry.evidence) <= 50
    assert read({"cells": [shown(kept(evidence="loss_curve"))]})[0][0].evidence == ()


def test_of_two_outputs_the_latest_counts() -> None:
    """The one handed in last, wherever it stands; of equal or unreadable times, the later one in the notebook."""
    old, new = replace(ONE, at=1.0, place=1), replace(ONE, at=2.0, place=2)
    assert latest([old, new], TICKET) == latest([new, old], TICKET)
    assert latest([new, old], TICKET)[0][0]["place"] == 2
    assert latest([old, replace(old, place=3)], TICKET)[0][0]["place"] == 3
    for at in (float("nan"), float("inf"), -1, "2", True and None, 10**400):
        ((entry,), _) = read({"cells": [shown(kept(at=at))]})
        assert entry.at == 0.0


def test_a_withdrawn_finding_is_none() -> None:
    assert latest([ONE, replace(ONE, at=101.0, cause="")], TICKET)[0] == [{}, {}, {}]
    assert latest([ONE, replace(ONE, at=99.0, cause="")], TICKET)[0][0]["cause"] == ONE.cause


def test_another_ticket_is_ignored_and_said() -> None:
    others = [replace(ONE, ticket=f"C-{number}") for number in range(2, 1000)]
    findings, notes = latest([*others, replace(ONE, form=3)], TICKET)
    assert [bool(finding) for finding in findings] == [False, False, True]
    assert len(notes) == 1 and "another ticket" in notes[0] and "'C-2'" in notes[0] and "'C-1'" in notes[0]
    assert latest([ONE, replace(ONE, ticket="")], "") == ([{}, {}, {}], []), "an exercise takes none"


@pytest.mark.parametrize("cause", ["a' + open('x').read() + '", '"""\n', "\\", "a\n", "{x}", "%s", "ä\u2028"])
def test_a_call_holds_literals_only(cause: str) -> None:
    """Whatever a record says, its call is one call with the same values as constants."""
    text = call(2, {"cause": cause, "place": None, "evidence": [cause]})
    (statement,) = ast.parse(text).body
    assert isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    assert ast.unparse(statement.value.func) == "second.hand_in" and text.isascii() and "\n" not in text
    arguments = {keyword.arg: ast.literal_eval(keyword.value) for keyword in statement.value.keywords}
    assert arguments == {"cause": cause, "place": None, "evidence": [cause]}


# ---- beside typed calls

GIVEN = [{"cause": "a mask", "place": 3, "evidence": ["layers"]}, {}, {}]


def test_nothing_typed_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bugzoo.instructor.diagnosis_cell.run_worker", lambda job: pytest.fail("it ran"))
    for text in ("", " \n", ANSWER):
        findings, trouble = records(text, GIVEN)
        assert trouble == "" and [finding["cause"] for finding in findings] == ["a mask", "", ""]
        assert overridden(GIVEN, findings) == []


@pytest.mark.usefixtures("sandboxed")
def test_a_typed_call_wins_and_is_said() -> None:
    findings, trouble = records('first.hand_in(cause="a loop")\nsecond.hand_in(cause="data", place=9)', GIVEN)
    assert trouble == "" and [(finding["cause"], finding["place"]) for finding in findings[:3]] == [
        ("a loop", 3),
        ("data", 9),
        ("", None),
    ]
    assert findings[0]["evidence"] == ["layers"], "what the call leaves open comes from the form"
    assert overridden(GIVEN, findings) == [
        "finding 1 was handed in by the form and by a typed call; the typed call counts"
    ]
    same, _ = records('first.hand_in(cause="a mask", place=3)', GIVEN)
    assert overridden(GIVEN, same) == []
    assert records("first.withdraw()", GIVEN)[0][0]["cause"] == ""


@pytest.mark.usefixtures("sandboxed")
@pytest.mark.parametrize("text", ["first.hand_in(", "import os; os._exit(0)", "raise SystemExit", "first = 3\nfirst.x"])
def test_a_cell_that_fails_loses_nothing(text: str) -> None:
    findings, trouble = records(text, GIVEN)
    assert findings[0]["cause"] == "a mask" and trouble


# ---- in a submission, and in nbgrader


@pytest.fixture(scope="module")
def text(draft: Assignment) -> str:
    return handout.build(draft, "student", key.answers(draft))


def test_a_submission_has_what_its_forms_kept(tmp_path: Path, text: str, draft: Assignment) -> None:
    notebook = json.loads(text)
    cell(notebook, "form")["outputs"] = shown(kept(ticket=draft.scenario.ticket), kept(form=7))["outputs"]
    hand_in(tmp_path, "ada", notebook, "week_3")
    ada = read_file(find(tmp_path, "week_3")[0], json.loads(text))
    assert ada.problem == "" and len(ada.notes) == 1 and "one of the 3 forms" in ada.notes[0]
    assert [entry.cause for entry in ada.forms] == [ONE.cause]


def copied(made: dict[str, Any]) -> Any:
    """The notebook after the preprocessor, and before nbgrader clears the outputs."""
    notebook, _ = FormRecords().preprocess(nbformat.reads(json.dumps(made), as_version=4), {})
    return notebook


def test_copied_before_outputs_are_cleared(text: str, draft: Assignment) -> None:
    notebook = json.loads(text)
    ticket = draft.scenario.ticket
    second = {"form": 2, "cause": "b", "place": None, "evidence": []}
    cell(notebook, "form")["outputs"] = shown(kept(ticket=ticket), kept(ticket=ticket, **second))["outputs"]
    answer(notebook, "first.hand_in(cause='typed')")
    converted = copied(notebook)
    nbformat.validate(converted)
    ids = [entry.id for entry in converted.cells]
    at = ids.index("diagnosis-answer")
    assert ids[at - 3 : at] == ["form", "handed-in-1", "handed-in-2"] and len(ids) == len(notebook["cells"]) + 2
    assert converted.cells[at - 2].source.endswith(f"handed_in = {call(1, ONE.given())}")
    assert converted.cells[at - 1].source.endswith("handed_in = second.hand_in(cause='b', place=None, evidence=[])")
    assert converted.cells[at].source == "first.hand_in(cause='typed')", "it runs after the copies, so it counts"


@pytest.mark.parametrize("change", [{"ticket": "C-9"}, {"format": "x"}, {"cause": ""}])
def test_what_is_not_copied(text: str, draft: Assignment, change: dict[str, Any]) -> None:
    notebook = json.loads(text)
    cell(notebook, "form")["outputs"] = shown(kept(**{"ticket": draft.scenario.ticket} | change))["outputs"]
    assert len(copied(notebook).cells) == len(notebook["cells"])


def test_other_notebooks_pass_unchanged(text: str, draft: Assignment) -> None:
    notebook = json.loads(text)
    cell(notebook, "form")["outputs"] = shown(kept(ticket=draft.scenario.ticket))["outputs"]
    for about in ({}, {"ticket": draft.scenario.ticket}, [1], None):
        notebook["metadata"]["bugzoo"] = about
        assert len(copied(notebook).cells) == len(notebook["cells"])
