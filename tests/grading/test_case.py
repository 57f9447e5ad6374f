"""What is handed in for a lesson's case is judged, each part by itself."""

import pytest

from bugzoo import lab
from bugzoo.errors import UserError
from bugzoo.grading.case import judged
from bugzoo.scenario import Scenario

CASE = Scenario("mlp", ("numerics/sqrt_at_zero?step=20",))
LINE = next(number for number, text in enumerate(CASE.source.splitlines(), 1) if "sqrt()" in text)


def test_each_part_by_itself() -> None:
    form = lab.diagnose(CASE)
    test = next("ABCD"[i] for i, text in enumerate(form.tests) if text == CASE.specs[0][0].look_alikes[0].test)
    right = {"cause": "a function outside its domain, such as log or sqrt", "place": LINE, "step": 21, "test": test}
    message = judged(CASE, form.hand_in(**right).record())
    assert message.count("  ok   ") == 4 and message.endswith("4 of 4 are right.")
    for part, wrong in {
        "cause": "a wrong learning rate",
        "place": 3,
        "step": 50,
        "test": "ABCD".replace(test, "")[0],
    }.items():
        message = judged(CASE, right | {part: wrong})
        assert message.count("NOT") == 1 and "3 of 4" in message and str(wrong) in message, message
    assert "0 of 4 are right." in judged(CASE, {})


@pytest.mark.parametrize(
    ("step", "ok", "told"), [(19, False, ""), (20, True, "so it is step 21"), (21, True, ""), (23, False, "")]
)
def test_a_step_counted_from_0_counts_and_is_said(step: int, ok: bool, told: str) -> None:
    line = next(line for line in judged(CASE, {"step": step}).splitlines() if "first step" in line)
    assert ("NOT" not in line) == ok and told in line and ("counted from 0" in line) == bool(told), line


@pytest.mark.parametrize(("step", "ok"), [(87, False), (88, True), (89, True), (90, True), (91, False)])
def test_a_fault_that_waits_for_its_data_is_graded_by_its_run(step: int, ok: bool) -> None:
    case = Scenario("digits_cnn", ("numerics/sqrt_of_equal_pair?draw=13",))
    line = next(line for line in judged(case, {"step": step}, onset=89).splitlines() if "first step" in line)
    assert ("NOT" not in line) == ok and ("counted from 0" in line) == (step == 88), line


@pytest.mark.sampled(0)
def test_without_the_readers_run_the_step_is_measured() -> None:
    """The gradient is lost at step 88, and the loss at 89."""
    case = Scenario("digits_cnn", ("numerics/sqrt_of_equal_pair?draw=13",))
    for step, ok in ((86, False), (88, True), (89, True), (91, False)):
        line = next(line for line in judged(case, {"step": step}).splitlines() if "first step" in line)
        assert ("NOT" not in line) == ok, line


def test_the_form_offers_what_the_case_lends() -> None:
    form = lab.diagnose(CASE)
    assert (
        "a function outside its domain, such as log or sqrt" in form.causes and len(form.causes) == len(form.tests) == 4
    )
    assert form.text() == CASE.source
    assert lab.diagnose("T-1").ask_evidence and not form.ask_evidence


def test_a_case_with_two_faults_or_none_cannot_be_judged() -> None:
    with pytest.raises(UserError, match="a case with one fault"):
        judged(CASE.healthy(), {})
