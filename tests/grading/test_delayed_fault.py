"""A symptom that is only put off is still there: what counts in a repair's text begins beyond the training, once."""

import pytest

from bugzoo.grading import delayed_fault
from bugzoo.grading.grade import grade
from bugzoo.grading.model import FOR_A_PERSON
from bugzoo.grading.trials.attacks import attacks
from bugzoo.running import Job, Run
from bugzoo.scenario import Scenario
from bugzoo.watching.trace import Trace

CASE = Scenario("mlp", ("numerics/log_at_step?step=20",), size="tiny")
WAITS = "if step >= 20:"


def graded(source):
    return grade(source, CASE, seeds=(0,), seconds=30)


@pytest.mark.slow
def test_what_is_put_off_does_not_pass():
    result = graded(CASE.source.replace(WAITS, "if step >= 4400:"))
    failed = [check for check in result.checks if not check.passed]
    assert [check.name for check in failed] == ["later steps"], str(result)
    assert "100000" in failed[0].saw and result.share == 0


@pytest.mark.sampled(0)
@pytest.mark.slow
@pytest.mark.parametrize(
    "after",
    [
        "if len(losses) >= 4400:",
        "if epoch >= 400:",
        'self.passes = getattr(self, "passes", 0) + 1\n        if self.passes > 4400:',
        "if 4400 <= step < 100000:",
        "if epochs > 1 and 44 * 100 <= step < 44 * 200:",
    ],
)
def test_a_person_looks_at_a_wait_that_is_not_met_there(after):
    assert CASE.source.count(WAITS) == 1
    result = graded(CASE.source.replace(WAITS, after))
    assert result.status == FOR_A_PERSON and after.splitlines()[-1].strip() in result.message, str(result)


def test_a_run_that_makes_no_step_later_says_nothing():
    crashed = Run(Trace(outcome="crashed"))
    assert delayed_fault.put_off(Job(CASE.healthy().source), CASE, lambda job: crashed) == []


@pytest.mark.slow
def test_a_repair_passes_and_is_told_so():
    result = graded(CASE.healthy().source)
    assert result.passed and "later steps" in [check.name for check in result.checks], str(result)


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
        ("self.n = 0\nself.n += 1", "self.n = 900\nself.n += 1"),
        ("n = 0\nn = n + 1", "n = 900\nn = n + 1"),
        ("total = 0\ntotal += len(x)\nfor i in range(3):\n    print(i)", None),
    ],
)
def test_what_counts_begins_later(before, after):
    assert delayed_fault.started_later(before, 900) == after
