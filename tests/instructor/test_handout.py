"""The student's notebook says nothing about what is wrong; the check that says so can fail."""

import json
import re

import pytest

from bugzoo import diagnostics, faults
from bugzoo.diagnostics.causes import words
from bugzoo.errors import UserError
from bugzoo.grading.groups import GROUPS
from bugzoo.instructor import Assignment, handout, key
from bugzoo.proving.notebook_run import run_notebook
from tests.instructor.class_of import answer, cell, clear_gradients

PROBES = (
    "print(repr(program), vars(program), repr(first), repr(view), repr(getattr(view, 'result', None)))",
    "program.look('no such view')",
    "get_ipython().run_cell('%%program Training\\nraise ValueError')",
)
"""Cells that a curious student might add."""


@pytest.fixture(scope="module")
def student(draft: Assignment) -> str:
    return handout.build(draft, "student", key.answers(draft))


def spellings() -> list[str]:
    texts = []
    for name in faults.catalogue():
        stem = name.rsplit("/", 1)[1]
        texts += [name, name.replace("/", "."), stem, stem.replace("_", " "), stem.replace("_", "-")]
    return texts


def test_no_name_of_a_fault(student: str, draft: Assignment) -> None:
    assert handout.leaks(student, draft) == []
    assert [name for name in spellings() if name in student.lower()] == []


def test_everything_else_is_as_around_any_program(student: str) -> None:
    """Whatever is wrong with the program, the rest of the notebook is the same but for the ticket."""
    other = Assignment("mini_transformer", ("attention/causal_mask_missing",), seed=7, title="Week 3")
    texts = []
    for text in (student, handout.build(other, "student", [])):
        notebook = json.loads(text)
        notebook["cells"] = [entry for entry in notebook["cells"] if not entry["id"].startswith("program-")]
        texts.append(json.dumps(notebook).replace(notebook["metadata"]["bugzoo"]["ticket"], "TICKET"))
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("title", "story", "word"),
    [
        ("A double softmax", "x", "loss/double_softmax"),
        ("Week 3", "Somebody wrote stale-gradients here.", "loop/stale_gradients"),
        ("The loss of Week 3", "x", "'loss'"),
    ],
)
def test_told_by_title_or_story(title: str, story: str, word: str) -> None:
    assignment = Assignment("mlp", ("loss/double_softmax", "loop/stale_gradients"), title=title, story=story)
    with pytest.raises(UserError, match=word):
        handout.refuse_leaks(handout.build(assignment, "student", []), assignment)


def test_a_slip_of_ours_is_noticed(student: str, draft: Assignment) -> None:
    notebook = json.loads(student)
    notebook["metadata"]["bugzoo"]["faults"] = len(draft.faults)
    cell(notebook, "look-text")["source"].append("\nLook at the loss.")
    assert any("differs" in text for text in handout.leaks(json.dumps(notebook), draft))


def test_three_kinds(student: str, draft: Assignment) -> None:
    """nbgrader makes the student's cell out of the instructor's, and the solution holds no marks."""
    answers = key.answers(draft)
    notebooks = {
        kind: json.loads(handout.build(draft, kind, answers)) for kind in ("student", "instructor", "solution")
    }
    text = {kind: json.dumps(one) for kind, one in notebooks.items()}
    assert "BEGIN SOLUTION" in text["instructor"]
    assert not any("BEGIN SOLUTION" in text[kind] for kind in ("student", "solution"))
    ids = [[one["id"] for one in one["cells"]] for one in notebooks.values()]
    assert ids[0] == ids[1] == ids[2]
    different = {
        one["id"]
        for one, two in zip(notebooks["student"]["cells"], notebooks["instructor"]["cells"], strict=True)
        if one != two
    }
    assert different == {"diagnosis-answer"}


def test_nothing_is_asked_that_is_not_graded(student: str) -> None:
    """No test, no step, no certainty and no guess before: cause, line and views are what earns points."""
    notebook = json.loads(student)
    assert not [entry["id"] for entry in notebook["cells"] if "hypothesis" in entry["id"]]
    wording = "\n".join(
        "".join(entry["source"]) for entry in notebook["cells"] if not entry["id"].startswith("program")
    )
    for word in ("how sure", "hypothesis", "test=", "step=", "may also be healthy"):
        assert word not in wording, word
    # the placeholder tells the truth: the button is enough
    assert "".join(cell(notebook, "diagnosis-answer")["source"]).startswith("# Nothing to type: press Hand in above")


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_what_it_shows_when_it_runs(small: Assignment) -> None:
    """Executed with a half-repair, a wrong finding and curious cells: no output names a fault.

    The repair is answered by groups, after the hand-in too, as the diagnosis can still be changed.
    """
    notebook = json.loads(handout.build(small, "student", key.answers(small)))
    clear_gradients(notebook)
    answer(notebook, 'first.hand_in(cause="wrong data or wrong labels", place=3, evidence=["loss_curve"])')
    for number, text in enumerate(PROBES):
        probe = {"cell_type": "code", "execution_count": None, "id": f"probe-{number}", "outputs": []}
        notebook["cells"].append(probe | {"metadata": {"tags": ["raises-exception"]}, "source": text})
    by_cell = {output["cell"]: output["text"] for output in run_notebook(json.dumps(notebook))}
    repair = by_cell["repair"].lower()
    assert "wrong" in repair and "failed" in repair and GROUPS["gone"].lower() in repair, repair
    named = [name for name in diagnostics.names() if re.search(rf"\b{name}\b", repair)]
    assert named == [] and not [word for word in words() if word in repair], repair
    assert "finding 1: wrong data or wrong labels, line 3, view loss_curve" in by_cell["diagnosis"]
    assert "finding 2: nothing" in by_cell["diagnosis"] and "ok" not in by_cell["diagnosis"].split()
    printed = "\n".join(by_cell.values()).lower()
    assert len(printed) > 500 and [name for name in spellings() if name in printed] == []
