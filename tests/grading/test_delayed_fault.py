"""A symptom that is only put off is still there: what counts in a repair's text begins beyond the training, once."""

import pytest

from bugzoo.grading import delayed_fault
from bugzoo.grading.grade import grade
from bugzoo.grading.model import FOR_A_PERSON
from bugzoo.proving.attacks import attacks
from bugzoo.running import Job, Run
from bugzoo.scenario import Scenario
from bugzoo.watching.trace import Trace

CASE = Scenario("mlp", ("numerics/log_at_step?step=20",), size="tiny")
WAITS = "if step >= 20:"


def graded(source):
    return grade(source, CASE, seeds=(0,), seconds=30)


def must_be_seen(after, behind=100000):
    assert CASE.source.count(WAITS) == 1
    result = graded(CASE.source.replace(WAITS, after))
    failed = [check for check in result.checks if not check.passed]
    assert [check.name for check in failed] == ["later steps"], str(result)
    assert str(behind) in failed[0].saw and result.share == 0


def test_numbers_of_its_own_are_those_that_were_not_handed_out():
    text = "a = 256\nif 44 * 100 <= step < 1e5 and 7 < a:\n    pass"
    assert delayed_fault.own_numbers(text, "a = 256") == [100000, 4400, 100]
    assert (
        delayed_fault.own_numbers(CASE.healthy().source, CASE.source)
        == []
        == delayed_fault.own_numbers("(", CASE.source)
    )


@pytest.mark.slow
def test_what_is_put_off_does_not_pass():
    must_be_seen("if step >= 4400:")


@pytest.mark.sampled(0)
@pytest.mark.slow
@pytest.mark.parametrize(
    "after",
    [
        "if len(losses) >= 4400:",
        "if epoch >= 400:",
        'self.passes = getattr(self, "passes", 0) + 1\n        if self.passes > 4400:',
    ],
)
def test_whatever_it_counts_by(after):
    must_be_seen(after)


@pytest.mark.sampled(0)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("after", "behind"),
    [
        ("if 4400 <= step < 100000:", 4400),
        ("if step >= 4400 and epochs > 1:", 100000),
        ("if epochs > 1 and 44 * 100 <= step < 44 * 200:", 4400),
    ],
)
def test_a_window_and_a_condition_on_the_length_are_met(after, behind):
    must_be_seen(after, behind)


def test_a_person_looks_at_a_program_that_cannot_be_run_from_later_steps():
    crashed = Run(Trace(outcome="crashed"))
    [check] = delayed_fault.put_off(Job(CASE.healthy().source), CASE, lambda job: crashed)
    assert check.status == FOR_A_PERSON and check.saw and check.expected


@pytest.mark.slow
def test_a_repair_passes_and_is_told_so():
    result = graded(CASE.healthy().source)
    assert result.passed and "later steps" in [check.name for check in result.checks], str(result)


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_a_repair_that_stops_by_its_own_count_is_trained_for_longer_instead():
    """From step 100000 on it makes no step at all."""
    source = CASE.healthy().source
    loop = "    for inputs, targets in train_loader:\n"
    assert source.count(loop) == 1
    source = source.replace(loop, f"{loop}        if step >= epochs * len(train_loader):\n            break\n")
    result = graded(source)
    (check,) = [check for check in result.checks if check.name == "later steps"]
    assert result.passed and "twice as long" in check.saw, str(result)


def test_the_attack_is_among_those_that_every_proof_tries():
    (name,) = attacks(CASE.source).keys() - attacks(CASE.healthy().source).keys()
    assert "if step >= 4400:" in attacks(CASE.source)[name]


def test_only_a_fault_that_waits_is_looked_for_later():
    assert delayed_fault.waiting(CASE) and not delayed_fault.waiting(Scenario("mlp", ("loop/stale_gradients",)))
    assert delayed_fault.put_off(None, Scenario("mlp", ("loop/stale_gradients",)), None) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("step = 0\nstep += 1", "step = 900\nstep += 1"),
        ("n, seen = 0, []\nn = n + 1", "n, seen = (900, [])\nn = n + 1"),
        ("self.n = 0\nself.n += 1", "self.n = 900\nself.n += 1"),
        ("n = getattr(self, 'n', 0) + 1", "n = getattr(self, 'n', 900) + 1"),
        ("for i in range(3):\n    loss.backward()", "for i in range(900, 900 + 3):\n    loss.backward()"),
        ("for i, b in enumerate(x):\n    loss.backward()", "for i, b in enumerate(x, 900):\n    loss.backward()"),
        ("l = []\nfor b in x:\n    loss.backward()\n    l.append(1)",
         "l = [0.0] * 900\nfor b in x:\n    loss.backward()\n    l.append(1)"),
        ("total = 0\ntotal += len(x)\nfor i in range(3):\n    print(i)", None),
    ],
)  # fmt: skip
def test_what_counts_begins_later(before, after):
    assert delayed_fault.started_later(before, 900, ("names", "lists", "loops")) == after
