"""Diagnoses of several faults: laid on the faults as well as they go, blaming what is healthy costs."""

import pytest

from bugzoo.diagnostics.causes import OTHER
from bugzoo.grading.model import Result
from bugzoo.instructor.findings import grade
from bugzoo.instructor.key import Answer

MASK = "a mask in the wrong place"
ANSWERS = [
    Answer("a/one", "a/one", "One", MASK, [(10, 11)], ["influence", "loss_curve"]),
    Answer("b/two", "b/two", "Two", "a wrong learning rate", [(40, 40)], ["loss_curve"]),
]


def said(cause: str, place: object = None, *evidence: str) -> dict:
    return {"cause": cause, "place": place, "evidence": list(evidence)}


RIGHT = [said(MASK, 10, "dependency"), said("a wrong learning rate", 40, "loss_curve")]


def points(*records: object) -> float:
    return grade(ANSWERS, records, 3.0).points


def test_all_right_whatever_the_order() -> None:
    for answers in (RIGHT, RIGHT[::-1]):
        result = grade(ANSWERS, answers, 3.0)
        assert (result.status, result.points, result.max_points) == ("passed", 3.0, 3.0)


def test_parts() -> None:
    assert points(RIGHT[0]) == 1.5
    assert points(said(MASK)) == pytest.approx(0.75)  # the cause alone is half of a finding
    assert points(said(MASK, 10)) == pytest.approx(1.2)
    assert points(said(f"{MASK.upper()} ", 10, "parameter_audit", "dependency")) == 1.5, "in whatever order it was seen"
    assert points(said(MASK, 30, "dependency")) == pytest.approx(1.05)


def test_blame_costs() -> None:
    assert points(*RIGHT, said("wrong data or wrong labels", 3, "loss_curve")) == pytest.approx(2.25)
    assert points(said("wrong data or wrong labels", 10, "dependency")) == 0.0
    assert grade(ANSWERS, [*RIGHT, said("memory", 1)], 3.0).status == "wrong"


def test_the_same_fault_twice_counts_once() -> None:
    assert points(RIGHT[0], RIGHT[0]) == pytest.approx(0.75)


@pytest.mark.parametrize("given", [[], [{}], [said("  ")], [None, 3, "x"]])
def test_nothing_said(given: list) -> None:
    assert grade(ANSWERS, given, 3.0) == Result("not attempted", message="The diagnosis is empty.", max_points=3.0)


@pytest.mark.parametrize("place", ["10", 10.0, True, [10], {"a": 1}])
def test_strange_places(place: object) -> None:
    """Only a whole number is a line; nothing else may raise."""
    assert points(said(MASK, place, "dependency")) <= 1.5


def test_a_cause_that_the_form_cannot_name() -> None:
    """Where the form has no word for it the line decides."""
    answers = [Answer("c/three", "c/three", "Three", OTHER, [(5, 5)], ["loss_curve"])]
    assert grade(answers, [said("something else", 5, "loss_curve")], 2.0).points == 2.0
    assert grade(answers, [said("something else", 50, "loss_curve")], 2.0).points == 0.0


def test_what_is_printed_names_nothing() -> None:
    text = str(grade(ANSWERS, [RIGHT[0], said("wrong data or wrong labels")], 3.0).to_json())
    assert not any(word in text for word in ("b/two", "Two", "a wrong learning rate", "One"))


def test_other_words_for_a_cause_count_and_two_may_be_true() -> None:
    """`causes` holds every word that is true; what no list knows blames nobody right."""
    answer = Answer(
        "a/one",
        "a/one",
        "One",
        MASK,
        [(10, 11)],
        ["influence"],
        causes=[MASK, "a function outside its domain, such as log or sqrt"],
    )
    for cause in ("wrong mask", "log of zero", "attention/mask_after_softmax"):
        assert grade([answer], [said(cause, 10, "dependency")], 3.0).points == 3.0
    assert grade([answer], [said("gremlins", 10, "dependency")], 3.0).points == 0.0
