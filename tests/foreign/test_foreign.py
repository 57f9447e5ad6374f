"""checkup on scripts that it was not written for: healthy ones stay quiet, broken ones get the right cause and line."""

import pytest

from bugzoo.diagnostics.checkup import checkup
from tests.corpus import scripts, variants

HEALTHY, VARIANTS = list(scripts("scripts")), list(variants())
BROKEN, TRAPS = ([script for script in VARIANTS if script.faulty == faulty] for faulty in (True, False))

QUICK = {
    "packed_lstm-frozen_layers", "trainer_class-double_softmax", "lbfgs_closure", "dqn",
}  # fmt: skip
LONG = "gpt_tied"
"""Takes 13 s; in the gate others are drawn, and one of its broken forms is among the quick ones."""


def some(cases, share):
    """Cases of the unit suite as they are, of the others, marked slow, a `share`, which may be none; one of a name is quick."""
    names, chosen = set(), []
    for case in cases:
        name = case.name
        slow = name not in QUICK or name in names
        names.add(name)
        mark = pytest.mark.sampled(0 if name.startswith(LONG) else share)
        chosen.append(pytest.param(case, marks=[pytest.mark.slow, mark] if slow else [], id=name))
    return chosen


def look(tmp_path, case):
    return checkup(case.placed(tmp_path).path, seconds=60, most_reruns=case.reruns)


@pytest.mark.slow
@pytest.mark.parametrize("script", some(HEALTHY, 0))
def test_a_healthy_script_in_another_style_is_left_in_peace(script):
    report = checkup(script.path, seconds=60)
    assert report.outcome == "nothing" and not report.findings, str(report)
    assert report.steps > 0


@pytest.mark.parametrize("case", some(TRAPS, 1))
def test_what_looks_wrong_and_is_right_is_left_in_peace(tmp_path, case):
    report = look(tmp_path, case)
    assert report.outcome == "nothing" and not report.findings, str(report)


READINGS = {"ema_amp_engine-no_grad_scaler", "bfloat16-no_grad_scaler", "finetune_unfreeze-starved_loader"}
"""Too weakly supported to be named: nothing underflows there, and the loader has workers."""
SECOND = {"epoch_functions-sign_flipped"}
"""A rate that is too high has more support there."""


@pytest.mark.slow
@pytest.mark.parametrize("case", some(BROKEN, 0))
def test_a_broken_script_gets_the_right_cause_and_line(tmp_path, case):
    report = look(tmp_path, case)
    if case.name in READINGS:
        assert report.outcome == "nothing" and case.cause in report.readings[0].could_be, str(report)
        return
    assert report.outcome == "found", str(report)
    if case.name in SECOND:
        assert report.remaining[1].cause == case.cause, str(report)
        return
    first = report.suspects[0]
    assert first.cause == case.cause, str(report)
    if case.at:
        assert first.line, str(report)
        assert case.at in case.text.splitlines()[first.line - 1]


MENDED = {"a_x13", "a_x23", "a_x29", "a_x41", "b_x10", "b_x12", "b_x19", "b_x26"}
"""Wrong when they were first seen. All the others: python -m tests.benchmarks.checkup_accuracy --unseen"""
PEACE = [case for case in scripts("unseen") if not case.faulty or case.name in MENDED]
"""With every healthy one: an instrument that is added later may blame what those before it left in peace."""


@pytest.mark.slow
@pytest.mark.sampled(0)
@pytest.mark.parametrize("case", PEACE, ids=lambda case: case.name)
def test_what_was_unseen_is_left_in_peace_or_mended(case):
    # one of them takes 43 s alone on two cores; no time of the clock decides, and nothing is repeated
    report = checkup(case.path, seconds=600, ranks=case.ranks, most_reruns=0)
    assert case.named([suspect.cause for suspect in report.suspects]), str(report)
    assert report.outcome == ("found" if case.faulty else "nothing")
