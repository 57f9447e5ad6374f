"""A proof can fail: every way in which the grader would not tell repairs apart is a reason to refuse."""

import json

import pytest

from bugzoo.errors import UserError
from bugzoo.grading.model import Check, Result
from bugzoo.instructor import Assignment, Refused
from bugzoo.instructor.proof import Step, problems, prove, refuse
from bugzoo.instructor.visible import look
from tests.instructor.class_of import written_proof

A, B = "loop/stale_gradients", "loss/double_softmax"


def steps(**changed: Result) -> list[Step]:
    usual = {
        "full": Result("passed", 1.0),
        "broken": Result("wrong"),
        "half_a": Result("wrong", 0.3),
        "half_b": Result("wrong", 0.3),
        "repair_a": Result("passed", 1.0),
        "pretence_b": Result("wrong", 0.3),
        "attack": Result("wrong", 0.0),
    } | changed
    named = {"half_a": A, "half_b": B, "repair_a": A, "pretence_b": B}
    return [Step(name.split("_")[0], named.get(name, ""), result) for name, result in usual.items()]


def test_a_good_one_has_no_problem() -> None:
    assert problems(steps()) == []


@pytest.mark.parametrize(
    ("name", "result", "word"),
    [
        ("broken", Result("passed", 1.0), "earns 100%"),
        ("broken", Result("wrong", 0.3), "earns 30%"),
        ("full", Result("wrong", 0.0, [Check("loss", "wrong", "3.2 nats")]), "3.2 nats"),
        ("full", Result("wrong", 0.6), "fully repaired program"),
        ("half_a", Result("passed", 1.0), f"with only {A} repaired it passes"),
        ("half_a", Result("wrong", 0.0), f"with only {A} repaired it earns 0%"),
        ("half_b", Result("your code raised"), f"with only {B} repaired it earns 0%"),
        ("repair_a", Result("wrong", 0.6), f"{A} repaired by ''"),
        ("pretence_b", Result("passed", 1.0), f"instead of a repair of {B}: earns 100%"),
        ("attack", Result("wrong", 0.3), "'' instead of a repair: earns 30%"),
    ],
)
def test_problems(name: str, result: Result, word: str) -> None:
    messages = problems(steps(**{name: result}))
    assert len(messages) == 1 and word in messages[0]


def test_something_was_not_graded() -> None:
    assert problems(steps()[:1]) == ["not everything was graded"]


def test_refused(draft: Assignment) -> None:
    """What failed is never written, and the message says what to do."""
    proof = written_proof(draft)
    refuse(proof)
    proof.steps[0].result.status = "wrong"
    proof.problems = problems(proof.steps)
    with pytest.raises(Refused, match="does not tell its repairs apart") as caught:
        refuse(proof)
    assert "bugzoo show" in str(caught.value) and "Nothing was written" in str(caught.value)
    assert isinstance(caught.value, UserError) and not proof.ok


def test_a_proof_without_grading_is_none(draft: Assignment) -> None:
    proof = written_proof(draft)
    proof.steps = []
    assert not proof.ok
    with pytest.raises(Refused):
        refuse(proof)


def test_json(draft: Assignment) -> None:
    document = json.loads(json.dumps(written_proof(draft).to_json(), allow_nan=False))
    assert document["ok"] and document["points"]["half_repairs"] == {A: 2.1, B: 2.1}
    assert {step["kind"] for step in document["graded"]} == {"full", "broken", "half"}


def test_title_that_tells(draft: Assignment) -> None:
    """Found before anything is run."""
    assignment = Assignment("mlp", (B,), title="The case of the double softmax")
    with pytest.raises(UserError, match=r"gives the answer away.*loss/double_softmax"):
        prove(assignment)


@pytest.mark.slow
def test_one_hides_the_other() -> None:
    """Measured: behind a second softmax the loss is bounded, so that a learning rate of 300 x does not diverge."""
    sights = {sight.fault: sight for sight in look(Assignment("mlp", (B, "optimizer/lr_too_high"), seed=7))}
    assert sights[B].problem == ""
    hidden = sights["optimizer/lr_too_high"]
    assert hidden.hidden_by == [B]
    assert f"{B} masks optimizer/lr_too_high" in hidden.problem and "`loss_curve.diverged > 0.5`" in hidden.problem
    plain = look(Assignment("mlp", (A, B), seed=7))
    assert [sight.problem for sight in plain] == ["", ""]
    assert all(number > 0.5 for sight in plain for sign in sight.signs for number in sign.together)
