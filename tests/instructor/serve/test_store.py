"""The database: real SQLite, several processes, a process that is killed, and files that are none."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from bugzoo.errors import UserError
from bugzoo.instructor.records import UNGRADED, Record
from bugzoo.instructor.serve import database, schema
from bugzoo.instructor.serve.access import Access
from bugzoo.instructor.serve.store import DONE, STOPPED, HandIn, Store

WRITER = """
import hashlib, sys
from pathlib import Path
from bugzoo.instructor.serve.store import HandIn, Store
with Store.open(Path(sys.argv[1])) as store:
    for number in range(int(sys.argv[3])):
        data = f"{sys.argv[2]} {number}".encode() * 2000
        store.take(HandIn(sys.argv[2], sys.argv[2], "upload", hashlib.sha256(data).hexdigest(), len(data)), data, "ada")
        print(number, flush=True)
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "instructor").mkdir()
    return tmp_path


def writer(place: Path, student: str, number: int) -> subprocess.Popen:
    words = [sys.executable, "-c", WRITER, str(place), student, str(number)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def handin(student: str, text: str = "1", **more: str) -> HandIn:
    return HandIn(student, student, "upload", text, 1, **more)


def test_only_its_owner_reads_it_and_it_is_checked(place: Path) -> None:
    before = os.umask(0)
    try:
        store = Store.open(place)
        store.note("ada", "looked")
    finally:
        os.umask(before)
    for path in (place / "instructor").iterdir():  # the log of SQLite as well
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    assert store.row("PRAGMA journal_mode")[0] == "wal"
    assert store.row("PRAGMA foreign_keys")[0] == 1
    with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"), store.writing():
        store.db.execute("INSERT INTO results VALUES (77, 77, '', '', NULL, '{}', '')")
    store.close()
    os.chmod(place / database.NAME, 0o644)  # as a copy may be
    Store.open(place).close()
    assert stat.S_IMODE((place / database.NAME).stat().st_mode) == 0o600


def test_two_processes_write_at_once(place: Path) -> None:
    with Store.open(place) as store:
        both = [writer(place, name, 40) for name in ("s1", "s2")]
        for process in both:
            process.communicate(timeout=120)
            assert process.returncode == 0
        assert [len(store.of(name)) for name in ("s1", "s2")] == [40, 40]
        assert len(store.log()) == 80
        assert sorted(one.student for one in store.last()) == ["s1", "s2"]


def test_killed_in_the_middle(place: Path) -> None:
    """What was told to be kept is there, whole; the file can be read and written."""
    process = writer(place, "s1", 100_000)
    for _ in range(25):
        told = int(process.stdout.readline())
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    told = max([told, *map(int, process.stdout.read().split())])
    process.stdout.close()
    with Store.open(place) as store:
        found = store.of("s1")
        assert len(found) >= told + 1
        assert len(store.log()) == min(500, len(found)), "a line of the log for each, or neither"
        for one in found[:5]:
            assert len(store.content(one.id)) == one.bytes
        assert store.row("PRAGMA integrity_check")[0] == "ok"
        assert store.take(handin("s2"), b"1", "ada")


def test_the_same_file_twice_is_one_hand_in(place: Path) -> None:
    with Store.open(place) as store:
        first = handin("s1", "one")
        assert store.take(first, b"1", "ada") and not store.take(first, b"1", "ben")
        assert store.take(handin("s1", "two"), b"2", "ada") and store.take(first, b"1", "ada")  # back to the first text
        assert [one.digest for one in store.of("s1")] == ["one", "two", "one"]
        # the folder was read before, and is read again: what was uploaded meanwhile counts
        folder = HandIn("s1", "s1", "folder", "old", 1)
        assert store.take(folder, b"0", "ada") and store.take(handin("s1", "new"), b"3", "ada")
        assert not store.take(folder, b"0", "ada")
        assert store.last()[0].digest == "new"
        store.withdraw(store.last()[0].id, True, "ada")
        assert store.last()[0].digest == "old"


def test_what_is_left_to_grade(place: Path) -> None:
    with Store.open(place) as store:
        for name in ("s1", "s2", "s3"):
            store.take(handin(name, name), b"1", "ada")
        store.take(handin("s4", "", problem="a link"), None, "ada")
        first, second, third = (one.id for one in store.last() if not one.problem)
        job = store.begin("ada")
        with pytest.raises(UserError, match="running already"):
            store.begin("ben")
        store.keep(first, job, Record("s1", "passed", 10.0, 10.0, by="key"))
        store.keep(second, job, Record("s2", UNGRADED, None, 10.0, by="key"))
        assert [one.id for one in store.todo(store.job(), "key")] == [third], "each once in a job"
        store.end(job, STOPPED)
        store.end(job, DONE)
        assert store.job().state == STOPPED
        store.begin("ada")
        assert [one.id for one in store.todo(store.job(), "key")] == [second, third], (
            "what could not be graded is tried"
        )
        assert len(store.todo(store.job(), "other key")) == 3
        store.end(store.job().id, DONE)
        store.begin("ada", "s1", fresh=True)
        assert [one.id for one in store.todo(store.job(), "key")] == [first]
        store.keep(first, store.job().id, Record("s1", "wrong", 1.0, 10.0, by="key"))
        assert store.todo(store.job(), "key") == [] and store.results()[first][0].points == 1.0


def test_given_to_somebody_while_it_is_graded(place: Path) -> None:
    with Store.open(place) as store:
        store.take(handin("stranger", unmatched="nobody fits"), b"1", "ada")
        number, job = store.last()[0].id, store.begin("ada")
        store.keep(number, job, Record("stranger", "passed", 10.0, 10.0, by="key"))
        store.assign(number, "s1", "ada")
        assert store.results() == {}, "it was graded with nobody's variant"
        store.keep(number, job, Record("stranger", "passed", 10.0, 10.0, by="key"))  # a worker that had begun before
        assert store.results() == {} and [one.id for one in store.todo(store.job(), "key")] == [number]
        assert store.last()[0].student == "s1" and store.last()[0].unmatched == ""


def test_overrides_and_the_log_are_only_added_to(place: Path) -> None:
    with Store.open(place) as store:
        store.override("s1", 8.0, "a typing mistake", "ada")
        store.override("s1", 9.0, "looked again", "ben")
        assert [(one["points"], one["by"]) for one in store.overrides()] == [(9.0, "ben")]
        for table in ("log", "overrides", "comments"):
            store.comment("s1", "good", "ada")
            for query in (f"DELETE FROM {table}", f"UPDATE {table} SET by = 'eve'"):
                with pytest.raises(sqlite3.IntegrityError, match="only added"), store.writing():
                    store.db.execute(query)
        store.override("s1", None, "taken back", "ben")
        assert store.overrides() == [] and len(store.overrides("s1")) == 3
        assert {one["by"] for one in store.log()} == {"ada", "ben"}


def test_files_that_are_no_database(place: Path) -> None:
    path = place / database.NAME
    path.write_bytes(b"this is no database, and long enough to be looked at\n" * 100)
    with pytest.raises(UserError, match="no database that can be read"):
        Store.open(place)
    path.unlink()
    (place / "elsewhere").write_text("")
    path.symlink_to(place / "elsewhere")
    with pytest.raises(UserError, match="a link or no file"):
        Store.open(place)
    assert (place / "elsewhere").read_text() == ""
    path.unlink()
    with Store.open(place) as store, store.writing():
        store.db.execute("INSERT INTO migrations VALUES (99, '')")
    with pytest.raises(UserError, match=f"newer bugzoo .migration 99; this one knows {len(schema.MIGRATIONS)}"):
        Store.open(place)
    with pytest.raises(UserError, match="could not be opened"):
        Store.open(place / "none")


def test_passwords_and_sessions(place: Path) -> None:
    with Store.open(place) as store:
        access = Access(store)
        for name, password, said in (
            ("ada", "short", "5 characters"),
            ("ada", "a" * 20, "again and again"),
            ("a b", "eleven small ducks", "no name for a user"),
            ("", "eleven small ducks", "no name for a user"),
        ):
            with pytest.raises(UserError, match=said):
                access.add(name, password)
        access.add("ada", "eleven small ducks")
        access.add("ben", "eleven small ducks")
        with pytest.raises(UserError, match="There is a user ada already"):
            access.add("ada", "another long one")
        kept = [access.hash_of(name) for name in ("ada", "ben")]
        assert kept[0] != kept[1] and "ducks" not in kept[0]
        token = access.begin("ada", "127.0.0.1")
        assert access.user(token) == "ada" and access.user(token + "x") == ""
        assert token not in str([tuple(one) for one in store.rows("SELECT * FROM sessions")])
        access.remove("ada")
        assert access.user(token) == "" and access.hash_of("ada") is None
        with pytest.raises(UserError, match="no user 'ada'; there is ben"):
            access.remove("ada")
        assert access.secret() == access.secret() and len(access.secret()) == 64


def test_wrong_passwords_wait_longer_and_longer(place: Path) -> None:
    with Store.open(place) as store:
        access = Access(store)
        assert [access.trying("ada", "10.0.0.1") for _ in range(5)] == [0.0] * 5
        assert 0 < access.trying("ada", "10.0.0.1") <= 5
        assert 0 < access.trying("ada", "10.0.0.2") <= 5, "from elsewhere as well"
        assert 0 < access.trying("ben", "10.0.0.1") <= 5, "and for others from there"
        assert access.trying("ben", "10.0.0.2") == 0.0
        with store.writing():
            store.db.execute("UPDATE tries SET locked = 0")
        assert access.trying("ada", "10.0.0.1") == 0.0, "when the wait is over, one more"
        assert 5 < access.trying("ada", "10.0.0.1") <= 10
