"""The tests of the grader can fail: with a check made deaf, exactly what only it sees passes."""

from dataclasses import replace

import pytest

import bugzoo.grading.grade as room
from bugzoo.grading import checks, each_step, runs
from bugzoo.grading.evaluation import tasks
from bugzoo.grading.model import Check
from tests.grading.attempt import must_fail, must_pass
from tests.grading.tricks import ATTACKS, BROKEN, LAZY, MENDED, SINGLE


def steps_unseen(monkeypatch):
    """No step is compared with the healthy program's: that sees most tricks as well."""
    monkeypatch.setattr(each_step, "checks", lambda *_, **__: [])


def deaf(monkeypatch, names):
    """Checks of these names always pass."""
    usual = room.judge
    steps_unseen(monkeypatch)
    monkeypatch.setattr(room, "judge", lambda *args: [c for c in usual(*args) if c.name not in names] or [GOOD])


GOOD = Check("nothing", "passed", "")


@pytest.mark.slow
def test_a_grader_that_always_passes_is_noticed(monkeypatch):
    monkeypatch.setattr(room, "status_of", lambda found: "passed")
    with pytest.raises(AssertionError):
        must_fail(LAZY["as it was"](BROKEN))


@pytest.mark.slow
def test_a_grader_that_never_passes_is_noticed(monkeypatch):
    monkeypatch.setattr(room, "judge", lambda *args: [Check("run", "wrong", "something", "nothing")])
    with pytest.raises(AssertionError):
        must_pass(MENDED)


@pytest.mark.sampled(1)
@pytest.mark.slow
@pytest.mark.parametrize("name", SINGLE)
def test_without_its_check_each_trick_passes(name, monkeypatch):
    seen_by, trick = SINGLE[name]
    deaf(monkeypatch, seen_by)
    with pytest.raises(AssertionError):
        must_fail(trick(BROKEN))
    must_pass(trick(BROKEN))


@pytest.mark.slow
def test_who_believes_the_submission_is_deceived(monkeypatch, sandboxed):
    """Without the grader's own reading of the trace and the list of what was changed, patched instruments win."""
    trick = ATTACKS["clipped, and their code exchanged"](BROKEN)
    must_fail(trick)
    monkeypatch.setattr(runs, "measured", lambda run: run.readings)
    deaf(monkeypatch, ("tools", "clip_rate"))  # the attack silences the instrument of the fault alone
    must_pass(trick)


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_a_band_that_is_too_wide_is_noticed(monkeypatch):
    wide = replace(tasks.TASKS["classification"], room=0.9, loss_factor=50.0)
    monkeypatch.setitem(tasks.TASKS, "classification", wide)
    monkeypatch.setattr(checks, "FALL", 50.0)
    steps_unseen(monkeypatch)
    with pytest.raises(AssertionError):
        must_fail(SINGLE["learns too little"][1](BROKEN))
