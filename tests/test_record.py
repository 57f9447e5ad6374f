"""`bugzoo.record`: one file for what a learner has done, used by several processes, missed by nobody where it is broken."""

import contextlib
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bugzoo import record
from bugzoo.errors import UserError


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.setattr(record, "_told", set())
    monkeypatch.setattr(record, "_unwritten", [])
    return tmp_path / "data"


def test_asking_makes_no_file(data):
    assert record.standing() == {} and record.interviews() == [] and record.kept("hints", "X-1") is None
    record.forget("01")
    assert not data.exists()


def test_attempts_count_where_something_could_be_graded(monkeypatch):
    for status, points in (("wrong", 0.0), ("passed", 7.0), ("cannot be graded", 0.0), ("not attempted", 0.0)):
        assert record.attempt("01", "repair", status, points, 7.0) is (status in ("wrong", "passed"))
    record.attempt("01", "diagnosis", "wrong", 1.0, 3.0)
    record.attempt("02", "repair", "wrong", 0.0, 7.0)
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert not record.attempt("02", "repair", "passed", 7.0, 7.0)
    assert record.standing() == {
        "01": {"attempts": 2, "best": 7.0, "passed": True},
        "02": {"attempts": 1, "best": 0.0, "passed": False},
    }
    record.forget("01")
    assert set(record.standing()) == {"02"}


def test_the_latest_word_is_kept():
    assert record.keep("hints", "X-1", {"opened": 1}) and record.keep("hints", "X-1", {"opened": 2})
    record.keep("diagnosis", "X-1", {"cause": "a mask"})
    assert record.kept("hints", "X-1") == {"opened": 2} and record.kept("diagnosis", "X-1") == {"cause": "a mask"}


def test_what_was_done_on_a_ticket_is_kept_in_its_order(monkeypatch):
    for name in ("loss_curve", "layers", "loss_curve"):
        assert record.note("X-1", "looked", {"view": name})
    record.note("X-1", "hypothesis", {"cause": "a mask", "sure": 30})
    record.note("X-2", "diagnosis", {"cause": "another's"})
    assert record.looked("X-1") == ["loss_curve", "layers"] and record.diagnosis("X-1") is None
    record.note("X-1", "diagnosis", {"cause": "a mask"})
    record.note("X-1", "diagnosis", {"cause": "a seed"})
    assert (record.diagnosis("X-1") or {})["cause"] == "a seed"
    assert [note["kind"] for note in record.notes("X-1")] == ["looked"] * 3 + ["hypothesis"] + ["diagnosis"] * 2
    with pytest.raises(
        ValueError, match="use one of started, listening, looked, hypothesis, opened, diagnosis, repair"
    ):
        record.note("X-1", "lookd", {})
    record.forget("01", "X-1")
    assert record.notes("X-1") == [] and record.diagnosis("X-2") is not None

    # under nbgrader neither reads the other's; in the notebook that is run a diagnosis counts all the same
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert record.diagnosis("X-2") is None and not record.note("X-3", "diagnosis", {"cause": "a mask"})
    assert (record.diagnosis("X-3") or {})["cause"] == "a mask"
    monkeypatch.delenv("NBGRADER_EXECUTION")
    record._unwritten.clear()
    assert record.diagnosis("X-3") is None


def test_an_interview_is_open_until_it_ends():
    first = record.start_interview("X-1", 3, 5, Path("case"))
    second = record.start_interview("X-2", 4, 0.001, Path("case"))
    with contextlib.closing(sqlite3.connect(record.path())) as connection, connection:
        connection.execute("update interviews set started = started - 4000 where id = ?", (second,))
    assert [row["status"] for row in record.interviews()] == ["open", "abandoned"]
    record.end_interview(first, "finished", {"points": 60, "of": 100})
    row = record.interviews()[0]
    assert (row["ticket"], row["points"], row["possible"]) == ("X-1", 60, 100) and row["status"] in record.STATUS


@pytest.mark.slow
def test_four_processes_at_once_lose_nothing(data, tmp_path):
    """All of them find a file without tables at the same moment, and want to make them."""
    code = """if True:
        import sys, time
        from pathlib import Path
        from bugzoo import record
        print("ready", flush=True)
        while not Path(sys.argv[1]).exists():
            time.sleep(0.001)
        for _ in range(10):
            assert record.attempt("01", "repair", "wrong", 0.0, 7.0)
    """
    go = tmp_path / "go"
    started = [subprocess.Popen([sys.executable, "-c", code, str(go)], stdout=subprocess.PIPE) for _ in range(4)]
    for process in started:
        assert process.stdout and process.stdout.readline() == b"ready\n"
    data.mkdir()
    with contextlib.closing(sqlite3.connect(record.path(), isolation_level=None)) as held:
        held.execute("begin immediate")  # they can read that there is nothing, and have to wait for writing
        go.touch()
        time.sleep(0.5)
    assert [len(process.communicate(timeout=120)) and process.returncode for process in started] == [0] * 4
    assert record.standing()["01"]["attempts"] == 4 * 10


def _broken(data: Path) -> None:
    data.mkdir()
    record.path().write_text("this is no database, and it is long enough to be noticed as such" * 20)


def _no_folder(data: Path) -> None:
    data.write_text("a file where a folder should be")


def _newer(data: Path) -> None:
    record.keep("hints", "X-1", {})
    with contextlib.closing(sqlite3.connect(record.path())) as connection:
        connection.execute("pragma user_version = 99")


def _older(data: Path) -> None:
    record.keep("hints", "X-1", {})
    with contextlib.closing(sqlite3.connect(record.path())) as connection:
        connection.execute("pragma user_version = 3")


def _locked(data: Path) -> None:
    record.keep("hints", "X-1", {})
    holding.append(sqlite3.connect(record.path(), isolation_level=None))
    holding[-1].execute("begin exclusive")


holding: list[sqlite3.Connection] = []


@pytest.mark.parametrize("spoil", [_broken, _no_folder, _newer, _older, _locked])
def test_a_lesson_goes_on_without_and_says_so_once(data, spoil, capsys, monkeypatch):
    monkeypatch.setattr(record, "_WAIT", 0.05)
    spoil(data)
    try:
        for _ in range(3):
            assert not record.keep("hints", "X-2", {"opened": 1}) and record.kept("hints", "X-2") is None
        printed = capsys.readouterr()
        assert (
            printed.out.count("Your progress is not saved") == 1 and "$BUGZOO_DATA" in printed.out and not printed.err
        )
        with pytest.raises(UserError, match=r"record\.sqlite"):  # who asks for it by name is told
            record.start_interview("X-1", 3, 5, Path("case"))
    finally:
        while holding:
            holding.pop().close()


def test_the_users_data_folder_is_the_usual_one(monkeypatch, tmp_path):
    monkeypatch.delenv("BUGZOO_DATA")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    if sys.platform == "linux":
        assert record.path() == tmp_path / "bugzoo" / "record.sqlite"
    assert record.path().parts[-2:] == ("bugzoo", "record.sqlite") or os.name == "nt"
