"""A learner's record of that day is read as it was written, and goes on."""

import contextlib
import sqlite3
from pathlib import Path

import pytest

from bugzoo import record
from tests.handed_out.files import HERE

TICKET, SOLVED, OPEN = "W-11Q5-68RJ", "04_flat_loss", "10_restless_loss"


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path))
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    with contextlib.closing(sqlite3.connect(record.path())) as connection:
        connection.executescript((HERE / "record.sql").read_text(encoding="utf-8"))


def test_it_is_read_as_it_was_written() -> None:
    assert record.standing() == {SOLVED: {"attempts": 1, "best": 5.0, "passed": True}}
    assert [note["kind"] for note in record.notes(TICKET)] == ["started", "looked", "diagnosis", "repair"]
    first = record.first_diagnosis(TICKET)
    assert first is not None and (first["place"], first["test"], first["evidence"]) == (57, "C", ["outputs"])
    assert record.looked(TICKET) == ["loss_curve"]
    assert record.opened() == [{"exercise": OPEN, "program": "word_lines"}]
    assert record.kept("quick check", "02/classes") == {"tries": ["acb"], "solved": True}
    finished, left = record.interviews()
    assert (finished["status"], finished["points"]) == ("finished", 62.0) and left["status"] in ("open", "abandoned")


def test_it_goes_on() -> None:
    assert record.attempt(SOLVED, "repair", "wrong", 0.0, 5.0)
    assert record.standing()[SOLVED] == {"attempts": 2, "best": 5.0, "passed": True}
    record.forget(SOLVED, TICKET)
    assert record.standing() == {} and record.notes(TICKET) == []
