"""The salt of an assignment: its key holds it, a student's notebook does not, and its class is graded with it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import bugzoo.grading.runs as room
from bugzoo.grading import salt
from bugzoo.instructor import Assignment, key, write
from bugzoo.instructor.__main__ import answer
from bugzoo.instructor.tasks import AssignmentTask, ExerciseTask, load
from bugzoo.interview import deck, repair
from tests.instructor.class_of import written_proof

ENDS = "seed = 0\nraise SystemExit(1)\n"
"""The first run ends at once."""


@pytest.fixture
def folder(tmp_path, small: Assignment, monkeypatch) -> Path:
    """An assignment of a machine with a salt; its runs are not what this is about."""
    monkeypatch.setenv(salt.VARIABLE, "of this machine")
    return write(written_proof(replace(small)), tmp_path / "week_3")


@pytest.fixture
def salts(monkeypatch) -> list[str]:
    """The salt with which each submission was run."""
    used: list[str] = []
    job_of = room.job_of

    def noted(*given, **more):
        used.append(salt.current())
        return job_of(*given, **more)

    monkeypatch.setattr(room, "job_of", noted)
    return used


def secret(folder: Path) -> str:
    return json.loads((folder / "instructor" / "key.json").read_text())["grading"]["salt"]


def test_the_key_holds_it_and_nothing_that_students_get(folder):
    assert len(secret(folder)) == 32 and key.read(folder).salt == secret(folder)
    outside = [file for file in folder.rglob("*") if file.is_file() and file.parent.name != "instructor"]
    assert outside and not [file for file in outside if secret(folder) in file.read_text(encoding="utf-8")]


def test_the_same_command_makes_it_again_and_another_assignment_has_another(folder, small, tmp_path):
    assert replace(small).salt == secret(folder) != replace(small, title="Week 4").salt


def test_a_key_without_one_is_graded_as_before(folder):
    path = folder / "instructor" / "key.json"
    old = json.loads(path.read_text())
    before = AssignmentTask(key.read(folder)).fingerprint()
    del old["grading"]["salt"]
    path.write_text(json.dumps(old))
    assert key.read(folder).salt == ""
    assert AssignmentTask(key.read(folder)).fingerprint() != before, "results of another draw are not reused"


@pytest.mark.slow
def test_a_class_is_graded_with_the_salt_of_its_key(folder, salts, sandboxed):
    load(str(folder)).repair("ada", ENDS, [], True, 0)
    answer("week_3", {"kind": "repair", "source": ENDS}, folder)
    assert salts == [secret(folder)] * 2


@pytest.mark.slow
def test_without_a_key_and_without_an_assignment_with_that_of_the_machine(tmp_path, salts, monkeypatch, sandboxed):
    monkeypatch.setenv(salt.VARIABLE, "of this machine")
    answer("week_3", {"kind": "repair", "source": ENDS, "program": "mlp"}, tmp_path)
    task = load("04_flat_loss")
    assert isinstance(task, ExerciseTask)
    monkeypatch.setenv(salt.VARIABLE, "of a worker of the cluster")
    task.repair("ada", ENDS, [], True, 0)
    monkeypatch.setenv(salt.VARIABLE, "of this machine")
    repair.grade(deck.draw(1734, "loss/double_softmax", "mlp"), ENDS)
    assert set(salts) == {"of this machine"} and len(salts) >= 3
