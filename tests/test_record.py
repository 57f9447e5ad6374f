"""`bugzoo.record`: one file for what a learner has done, used by several processes, missed by nobody where it is broken."""

import contextlib
import json
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
    for name in ("loss_curve", "replay", "loss_curve"):
        assert record.note("X-1", "looked", {"instrument": name})
    record.note("X-1", "hypothesis", {"cause": "a mask", "sure": 30})
    record.note("X-2", "diagnosis", {"cause": "another's"})
    assert record.looked("X-1") == ["loss_curve", "replay"] and record.diagnosis("X-1") is None
    record.note("X-1", "diagnosis", {"cause": "a mask"})
    record.note("X-1", "diagnosis", {"cause": "a seed"})
    assert (record.diagnosis("X-1") or {})["cause"] == "a seed"
    assert [one["kind"] for one in record.notes("X-1")] == ["looked"] * 3 + ["hypothesis"] + ["diagnosis"] * 2
    with pytest.raises(ValueError, match="use one of started, looked, hypothesis, diagnosis, repair"):
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


def test_an_exercise_keeps_its_record_under_its_new_name(data):
    record.attempt("01_flat_loss", "repair", "passed", 5.0, 5.0)
    record.attempt("97_not_of_ours", "repair", "wrong", 0.0, 5.0)
    record.note("Z-1", "started", {"exercise": "04_no_progress", "program": "amp_transformer"})
    with contextlib.closing(sqlite3.connect(data / "record.sqlite")) as one:
        one.execute("pragma user_version = 2")
        one.commit()
    assert set(record.standing()) == {"04_flat_loss", "97_not_of_ours"}
    assert record.opened() == [{"exercise": "35_no_progress", "program": "amp_transformer"}]
    assert record.attempt("04_flat_loss", "repair", "wrong", 0.0, 5.0)
    assert record.standing()["04_flat_loss"] == {"attempts": 2, "best": 5.0, "passed": True}


def test_attempts_at_an_exercise_do_not_count_once_it_has_another_fault(data):
    record.attempt("07_sudden_nan", "repair", "passed", 5.0, 5.0)
    record.attempt("07_sudden_nan-2", "repair", "passed", 5.0, 5.0)
    record.attempt("04_flat_loss", "repair", "passed", 5.0, 5.0)
    for ticket, name in (("Z-1", "07_sudden_nan"), ("Z-2", "04_flat_loss")):
        record.note(ticket, "started", {"exercise": name, "program": "mlp"})
        record.note(ticket, "hypothesis", {"cause": "a mask"})
    with contextlib.closing(sqlite3.connect(data / "record.sqlite")) as one:
        one.execute("pragma user_version = 3")
        one.commit()
    old = record.EXCHANGED["07_sudden_nan"]
    assert set(record.standing()) == {"04_flat_loss", old, f"{old}-2"}, "they are kept"
    assert [one["exercise"] for one in record.opened()] == ["04_flat_loss"], "what cannot be diagnosed is not open"
    assert [len(record.notes(ticket, "hypothesis")) for ticket in ("Z-1", "Z-2")] == [1, 1]
    assert record.attempt("07_sudden_nan", "repair", "wrong", 0.0, 5.0)
    assert record.standing()["07_sudden_nan"] == {"attempts": 1, "best": 0.0, "passed": False}


def test_a_diagnosis_of_the_first_version_is_taken_over(data):
    data.mkdir()
    with contextlib.closing(sqlite3.connect(record.path())) as one, one:
        for statement in filter(str.strip, record._TABLES.split(";")):
            one.execute(statement)
        one.execute("insert into kept values ('diagnosis', 'X-1', 5.0, ?)", (json.dumps({"cause": "a mask"}),))
        one.execute("pragma user_version = 1")
    assert record.notes("X-1") == [{"cause": "a mask", "kind": "diagnosis", "at": 5.0}]


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
    for one in started:
        assert one.stdout and one.stdout.readline() == b"ready\n"
    data.mkdir()
    with contextlib.closing(sqlite3.connect(record.path(), isolation_level=None)) as held:
        held.execute("begin immediate")  # they can read that there is nothing, and have to wait for writing
        go.touch()
        time.sleep(0.5)
    assert [len(one.communicate(timeout=120)) and one.returncode for one in started] == [0] * 4
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


def _locked(data: Path) -> None:
    record.keep("hints", "X-1", {})
    holding.append(sqlite3.connect(record.path(), isolation_level=None))
    holding[-1].execute("begin exclusive")


holding: list[sqlite3.Connection] = []


@pytest.mark.parametrize("spoil", [_broken, _no_folder, _newer, _locked])
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


def _old(folder: Path) -> None:
    """The three files as version 0.1 left them."""
    folder.mkdir(parents=True)
    with contextlib.closing(sqlite3.connect(folder / "exercises.sqlite")) as one, one:
        one.execute("create table tried (at real, exercise text, kind text, status text, points real, most real)")
        one.execute("insert into tried values (1.0, '04_flat_loss', 'repair', 'passed', 7.0, 7.0)")
    with contextlib.closing(sqlite3.connect(folder / "lessons.sqlite")) as one, one:
        one.execute("create table kept (kind text, key text, at real, value text, primary key (kind, key))")
        one.execute("insert into kept values ('hints', 'X-1', 1.0, ?)", (json.dumps({"opened": 2}),))
    (folder / "interviews.sqlite").write_text("broken: it has nothing to give, and hinders nobody" * 20)


@pytest.mark.parametrize("where", ["beside", "0.1", "named"])
def test_what_the_old_files_hold_is_taken_over_once(data, tmp_path, monkeypatch, where):
    if where == "beside":
        _old(data)
    elif where == "0.1":
        _old(tmp_path / "share" / "bugzoo")
        monkeypatch.delenv("BUGZOO_DATA")
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
        monkeypatch.setattr(record, "user_data_path", lambda *_, **__: tmp_path / "new place")
    else:
        _old(tmp_path / "mine")
        monkeypatch.setenv("BUGZOO_EXERCISES", str(tmp_path / "mine" / "exercises.sqlite"))
        monkeypatch.setenv("BUGZOO_PROGRESS", str(tmp_path / "mine" / "lessons.sqlite"))
    for _ in range(2):
        assert record.standing() == {"04_flat_loss": {"attempts": 1, "best": 7.0, "passed": True}}
        assert record.kept("hints", "X-1") == {"opened": 2} and record.interviews() == []
        record.attempt("02", "repair", "not attempted", 0, 7)
    record.forget("04_flat_loss")
    assert record.standing() == {}, "what was forgotten does not come back from the old file"


def test_the_users_data_folder_is_the_usual_one(monkeypatch, tmp_path):
    monkeypatch.delenv("BUGZOO_DATA")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    if sys.platform == "linux":
        assert record.path() == tmp_path / "bugzoo" / "record.sqlite"
    assert record.path().parts[-2:] == ("bugzoo", "record.sqlite") or os.name == "nt"
