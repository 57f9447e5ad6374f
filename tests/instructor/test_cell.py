"""What a student's own check says before the deadline, and what the instructor's says after it."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bugzoo import record
from bugzoo.grading.groups import GROUPS
from bugzoo.grading.model import Check, Result
from bugzoo.instructor import cell

FAILED = Result(
    "wrong", 0.3, [Check("fresh_gradient", "wrong", "old gradients were added.", "fresh ones", 0.4, "gone")], "gremlins"
)


@pytest.fixture(autouse=True)
def graded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A program that the grader has judged already, in a folder without a key. Only the running of it is left out."""
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(cell, "ask", lambda *_: FAILED)
    (tmp_path / "course").mkdir()
    monkeypatch.chdir(tmp_path / "course")


def said(capsys: Any) -> str:
    assert cell.repair("week_3", SimpleNamespace(source="x = 1", diagnosed=False), "mlp") == 0.0
    return capsys.readouterr().out


def test_a_student_hears_of_groups_only_before_and_after_any_hand_in(capsys) -> None:
    before = said(capsys)
    assert before.startswith("wrong") and f"failed       {GROUPS['gone']}" in before
    for number in (1, 2, 3):
        record.note(f"C-1/{number}", "diagnosis", {"cause": "a mask", "complete": True})
    assert said(capsys) == before
    for word in ("fresh_gradient", "old gradients", "0.4"):
        assert word not in before


@pytest.mark.parametrize("where", ["here", "above", "nbgrader"])
def test_the_instructor_sees_details(capsys, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, where: str) -> None:
    if where == "nbgrader":  # its autograde runs after the notebooks are collected
        monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    else:
        place = (tmp_path / "course" if where == "here" else tmp_path) / "instructor"
        place.mkdir()
        (place / "key.json").write_text('{"assignment": "week_3"}')
    assert "old gradients were added" in said(capsys)


def test_a_key_of_another_assignment_opens_nothing(capsys, tmp_path: Path) -> None:
    (tmp_path / "instructor").mkdir()
    (tmp_path / "instructor/key.json").write_text('{"assignment": "week_4"}')
    assert "old gradients" not in said(capsys)
