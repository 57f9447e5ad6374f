"""The table of what happened: it only grows, is made of an older record, and takes rows of several processes."""

import contextlib
import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from bugzoo import events, record
from bugzoo.errors import UserError

REPORT = {
    "status": "finished", "ticket": "Z-1", "seconds": 90.0, "points": 55.0, "of": 100,
    "rows": [{"name": "cause", "points": 30, "of": 30}, {"name": "repair", "points": 12, "of": 25}],
    "debrief": {"case": "loop/stale_gradients", "program": "mlp"},
}  # fmt: skip


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.setattr(record, "_told", set())
    monkeypatch.setattr(record, "_unwritten", [])
    return tmp_path / "data"


def test_everything_that_is_answered_appends() -> None:
    record.note("X-1", "card", {"cause": "a mask", "fault": "attention/mask_after_softmax", "right": True})
    record.note("X-1", "looked", {"instrument": "loss_curve"})
    record.attempt("07_sudden_nan", "repair", "passed", 7, 7)
    number = record.start_interview("Z-1", 3, 5, Path("case"))
    record.end_interview(number, "finished", REPORT)
    record.event("hunt", "H-1", {"cause": "loss/double_softmax", "right": False})
    record.forget("07_sudden_nan")
    found = record.events()
    assert [one["kind"] for one in found] == ["card", "exercise", "drill", "hunt", "forgotten"]
    assert [one["number"] for one in found] == [1, 2, 3, 4, 5]
    assert found[2]["cause"] == "loop/stale_gradients" and found[2]["named"] and not found[2]["right"]
    assert record.standing() == {} and found[1]["status"] == "passed", "what was forgotten there is still written here"
    with pytest.raises(ValueError, match="one of card, exercise, drill"):
        record.event("carp", "X", {})


def test_an_interview_that_was_left_says_nothing() -> None:
    assert events.drilled(REPORT | {"status": "abandoned"}) is None and events.drilled({"status": "finished"}) is None
    assert "sure" not in (events.drilled(REPORT) or {}) and (events.drilled(REPORT | {"sure": 80}) or {})["sure"] == 80


@pytest.mark.parametrize("statement", ["update events set at = 0", "delete from events"])
def test_nothing_changes_what_happened(statement) -> None:
    record.event("card", "X-1", {"cause": "loss/double_softmax", "right": True})
    with (
        contextlib.closing(sqlite3.connect(record.path())) as one,
        pytest.raises(sqlite3.IntegrityError, match="event"),
    ):
        one.execute(statement)
    assert len(record.events()) == 1


def older(version: int) -> None:
    """A record as version 1 or 2 of the tables left it."""
    record.folder().mkdir()
    with contextlib.closing(sqlite3.connect(record.path())) as one, one:
        for statement in filter(str.strip, record._TABLES.split(";")):
            one.execute(statement)
        one.execute("insert into attempts values (30.0, '07_sudden_nan', 'repair', 'wrong', 0, 7)")
        ended = "insert into interviews (started, minutes, ticket, seed, folder, status, result) values (10, 5, ?, 3, '', ?, ?)"
        one.execute(ended, ("Z-1", "finished", json.dumps(REPORT)))
        one.execute(ended, ("Z-2", "open", None))
        if version == 2:
            one.execute(record._NOTES)
            card = json.dumps({"fault": "loss/double_softmax", "right": True, "seconds": 4.0})
            one.execute("insert into notes values (20.0, 'X-1', 'card', ?)", (card,))
        one.execute(f"pragma user_version = {version}")


@pytest.mark.parametrize("version", [1, 2])
def test_a_record_of_an_older_version_is_read(version) -> None:
    older(version)
    for _ in range(2):
        found = [(one["kind"], one["at"]) for one in record.events()]
        assert found == [("card", 20.0)] * (version == 2) + [("exercise", 30.0), ("drill", 100.0)]
    assert record.standing()["07_sudden_nan"]["attempts"] == 1 and len(record.interviews()) == 2


def test_a_newer_record_is_refused_and_left_as_it_is() -> None:
    record.event("card", "X-1", {"cause": "loss/double_softmax", "right": True})
    with contextlib.closing(sqlite3.connect(record.path())) as one:
        one.execute(f"pragma user_version = {record.VERSION + 1}")
    before = record.path().read_bytes()
    with pytest.raises(UserError, match=r"written by a newer bugzoo \(its version is 4, this one knows 3\)"):
        record.events()
    assert not record.event("card", "X-1", {"cause": "loss/double_softmax", "right": True})
    assert record.path().read_bytes() == before


def test_two_processes_that_append_at_once_lose_nothing(tmp_path) -> None:
    code = """if True:
        import sys, time
        from pathlib import Path
        from bugzoo import record
        print("ready", flush=True)
        while not Path(sys.argv[1]).exists():
            time.sleep(0.001)
        for turn in range(50):
            assert record.event("card", sys.argv[2], {"cause": "loss/double_softmax", "right": True, "turn": turn})
    """
    older(2)  # and both want to bring it up to date
    go = tmp_path / "go"
    both = [
        subprocess.Popen([sys.executable, "-c", code, str(go), name], stdout=subprocess.PIPE) for name in ("one", "two")
    ]
    for one in both:
        assert one.stdout and one.stdout.readline() == b"ready\n"
    go.touch()
    assert [len(one.communicate(timeout=120)) and one.returncode for one in both] == [0, 0]
    found = record.events()
    assert [one["number"] for one in found] == list(range(1, 104)) and found[0]["at"] == 20.0
    for name in ("one", "two"):
        assert [one["turn"] for one in found if one["key"] == name] == list(range(50))
