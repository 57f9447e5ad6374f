"""No kind of attack earns a point, ends the grader or leaves anything behind; those that cannot be closed are named."""

import copy
import json
import tempfile

import pytest

from bugzoo.grading import notebook, witnessed
from bugzoo.grading.exercises import load
from bugzoo.grading.grade import grade_exercise
from bugzoo.grading.model import STATES, Result
from bugzoo.instructor.submission import Submission, read
from tests.grading import attack_kinds
from tests.grading.attack_kinds import KINDS, Kind, asking, dodges, notebooks, outside, pairs
from tests.grading.attack_kinds.open import OPEN
from tests.grading.attack_kinds.parts import CASES, EXERCISES, FLAT
from tests.grading.attempt import attempt, left_behind


def tried(name: str, kind: Kind) -> Result:
    seconds = 5.0 if name.split(": ", 1)[1] in outside.LONG else 30.0
    if kind.case in EXERCISES:
        name, options = EXERCISES[kind.case], {"seeds": (0,), "seconds": seconds}
        return grade_exercise(name, kind.text(), attempted=True, **options)
    return attempt(kind.text(), seconds=seconds)


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.mark.slow
@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", [name for name in KINDS if name not in OPEN])
def test_no_kind_earns_anything(name, sandboxed, own_folder):
    result = tried(name, KINDS[name])
    assert result.status in STATES and not result.passed and result.share == 0, f"{KINDS[name].why}: {result}"
    assert result.message or any(check.saw and not check.passed for check in result.checks), result
    assert left_behind() == []


@pytest.mark.slow
@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", OPEN)
def test_what_is_open_is_still_open(name, sandboxed):
    """One that fails now belongs to the others."""
    assert tried(name, KINDS[name]).passed


def test_there_are_many_and_each_is_another_with_a_reason(record_property):
    record_property("attacks", attack_kinds.count())
    assert attack_kinds.count() >= 160 and len(pairs.KINDS) >= 30, attack_kinds.count()
    texts = [kind.text() for kind in KINDS.values()]
    assert len(set(texts)) == len(texts) and not set(texts) & set(CASES.values())
    assert all(len(kind.why) > 20 for kind in KINDS.values()) and OPEN.keys() <= KINDS.keys()


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", dodges.DODGES)
def test_what_is_no_hiding_place_is_a_repair_all_the_same(name, sandboxed):
    text = dodges.DODGES[name][1](asking.when("True")(CASES["16"]))
    result = grade_exercise(FLAT, text, attempted=True, seeds=(0,))
    assert result.passed and witnessed.NAME in {check.name for check in result.checks}, result


@pytest.mark.slow
@pytest.mark.parametrize("name", ["found: found, and the witness emptied", "found: no witness at all"])
def test_without_what_was_told_and_what_is_missing_they_pass(name, sandboxed, monkeypatch):
    monkeypatch.setattr(witnessed, "told", lambda *given: None)
    monkeypatch.setattr(witnessed, "unseen", lambda *given: None)
    assert tried(name, KINDS[name]).passed


@pytest.mark.parametrize("name", notebooks.KINDS)
def test_a_notebook_is_read_as_it_was_meant_or_refused(name, tmp_path):
    wanted, change = notebooks.KINDS[name]
    exercise = load(FLAT)
    made = json.loads(notebook.build(exercise))
    original = copy.deepcopy(made)
    before = _read(tmp_path / "before.ipynb", original, original)
    change(made)
    found = _read(tmp_path / "it.ipynb", made, original)
    assert not before.problem and bool(found.problem) == (wanted == "refused"), found.problem
    if wanted == "same":
        assert found.sections == before.sections
    if wanted == "without it":  # as it was handed out: nothing that somebody could have wanted
        assert {**found.sections, "Training": before.sections["Training"]} == before.sections and found.missing


def _read(path, made, original) -> Submission:
    path.write_text(json.dumps(made), encoding="utf-8")
    return read(Submission("ada", path), original, FLAT)
