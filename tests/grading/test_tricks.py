"""What looks like a repair, and what is aimed at the grader, earns nothing; and nothing of it stays behind."""

import tempfile

import pytest

from bugzoo.grading import allowances
from tests.grading.attempt import failed, left_behind, must_fail, ran
from tests.grading.tricks import ATTACKS, BROKEN, BURDENS, LAZY, SINGLE

QUICK = ("metrics written by hand", "clip everything", "nan_to_num")


@pytest.mark.parametrize("name", QUICK)
def test_a_lazy_repair_fails(name):
    must_fail(LAZY[name](BROKEN))


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", [name for name in LAZY if name not in QUICK])
def test_every_lazy_repair_fails(name):
    must_fail(LAZY[name](BROKEN))


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", SINGLE)
def test_each_rule_has_its_check(name):
    checks, trick = SINGLE[name]
    assert failed(must_fail(trick(BROKEN))) == set(checks)


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ATTACKS)
def test_no_attack_changes_the_score(name, sandboxed):
    must_fail(ATTACKS[name](BROKEN))


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


WANTED = {
    "threads that outlive": "finished",
    "forks that outlive": "finished",
    "endless loop": ("timed_out", "hung"),
    "memory hog": ("out_of_memory",),
    "100 MB of output": "finished",
    "a bomb of processes": ("crashed", "timed_out", "hung"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BURDENS)
def test_limits_hold_and_nothing_is_left(name, sandboxed, own_folder, monkeypatch):
    monkeypatch.setattr(allowances, "MEMORY_MIB", 400)
    run = ran(BURDENS[name](BROKEN), seconds=30.0 if WANTED[name] == "finished" else 5.0)
    assert run.outcome in WANTED[name], run.trace.error
    assert len(run.stdout) < 1.1 * 2**20
    assert left_behind() == []


@pytest.mark.slow
def test_a_burden_is_no_excuse(sandboxed):
    """The same submissions are graded, not passed over."""
    must_fail(BURDENS["100 MB of output"](BROKEN))
    assert must_fail(BURDENS["endless loop"](BROKEN), seconds=4.0).status == "wrong"
