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
    found = []
    for name in faults.catalogue():
        stem = name.rsplit("/", 1)[1]
        found += [name, name.replace("/", "."), stem, stem.replace("_", " "), stem.replace("_", "-")]
    return found


def test_no_name_of_a_fault(student: str, draft: Assignment) -> None:
    assert handout.leaks(student, draft) == []
    assert [name for name in spellings() if name in student.lower()] == []


def test_everything_else_is_as_around_any_program(student: str) -> None:
    """Whatever is wrong with the program, the rest of the notebook is the same but for the ticket."""
    other = Assignment("mini_transformer", ("attention/causal_mask_missing",), seed=7, title="Week 3")
    texts = []
    for text in (student, handout.build(other, "student", [])):
        made = json.loads(text)
        made["cells"] = [one for one in made["cells"] if not one["id"].startswith("program-")]
        texts.append(json.dumps(made).replace(made["metadata"]["bugzoo"]["ticket"], "TICKET"))
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
    told = Assignment("mlp", ("loss/double_softmax", "loop/stale_gradients"), title=title, story=story)
    with pytest.raises(UserError, match=word):
        handout.refuse_leaks(handout.build(told, "student", []), told)


def test_a_slip_of_ours_is_noticed(student: str, draft: Assignment) -> None:
    made = json.loads(student)
    made["metadata"]["bugzoo"]["faults"] = len(draft.faults)
    cell(made, "look-text")["source"].append("\nLook at the loss.")
    assert any("differs" in text for text in handout.leaks(json.dumps(made), draft))


def test_three_kinds(student: str, draft: Assignment) -> None:
    """nbgrader makes the student's cell out of the instructor's, and the solution holds no marks."""
    answers = key.answers(draft)
    made = {kind: json.loads(handout.build(draft, kind, answers)) for kind in ("student", "instructor", "solution")}
    text = {kind: json.dumps(one) for kind, one in made.items()}
    assert "BEGIN SOLUTION" in text["instructor"]
    assert not any("BEGIN SOLUTION" in text[kind] for kind in ("student", "solution"))
    ids = [[one["id"] for one in one["cells"]] for one in made.values()]
    assert ids[0] == ids[1] == ids[2]
    different = {
        one["id"] for one, two in zip(made["student"]["cells"], made["instructor"]["cells"], strict=True) if one != two
    }
    assert different == {"diagnosis-answer"}


def test_nothing_is_asked_that_is_not_graded(student: str) -> None:
    """No test, no step, no certainty and no guess before: cause, line and views are what earns points."""
    made = json.loads(student)
    assert not [one["id"] for one in made["cells"] if "hypothesis" in one["id"]]
    asked = "\n".join("".join(one["source"]) for one in made["cells"] if not one["id"].startswith("program"))
    for word in ("how sure", "hypothesis", "test=", "step=", "may also be healthy"):
        assert word not in asked, word
    # the placeholder tells the truth: the button is enough
    assert "".join(cell(made, "diagnosis-answer")["source"]).startswith("# Nothing to type: press Hand in above")


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_what_it_shows_when_it_runs(small: Assignment) -> None:
    """Executed with a half-repair, a wrong finding and curious cells: no output names a fault.

    The repair is answered by groups, after the hand-in too, as the diagnosis can still be changed.
    """
    made = json.loads(handout.build(small, "student", key.answers(small)))
    clear_gradients(made)
    answer(made, 'first.hand_in(cause="wrong data or wrong labels", place=3, evidence=["loss_curve"])')
    for number, text in enumerate(PROBES):
        one = {"cell_type": "code", "execution_count": None, "id": f"probe-{number}", "outputs": []}
        made["cells"].append(one | {"metadata": {"tags": ["raises-exception"]}, "source": text})
    shown = {output["cell"]: output["text"] for output in run_notebook(json.dumps(made))}
    repair = shown["repair"].lower()
    assert "wrong" in repair and "failed" in repair and GROUPS["gone"].lower() in repair, repair
    named = [name for name in diagnostics.names() if re.search(rf"\b{name}\b", repair)]
    assert named == [] and not [word for word in words() if word in repair], repair
    assert "finding 1: wrong data or wrong labels, line 3, view loss_curve" in shown["diagnosis"]
    assert "finding 2: nothing" in shown["diagnosis"] and "ok" not in shown["diagnosis"].split()
    said = "\n".join(shown.values()).lower()
    assert len(said) > 500 and [name for name in spellings() if name in said] == []
