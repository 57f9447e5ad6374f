"""Rosters, gradebooks and kept results: files that go in and out."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from bugzoo.errors import UserError
from bugzoo.instructor import gradebook, records, roster
from bugzoo.instructor.records import MISSING, UNGRADED, Record
from bugzoo.instructor.submission import Submission


@pytest.mark.parametrize(
    "text",
    [
        "student_id,last_name,first_name,email\nada,Lovelace,Ada,a@b.c\nben,,,\n",
        "\ufeffID,Last_Name, first_name ,e\nada,Lovelace,Ada,x\nben,,,\n",
    ],
)
def test_roster(tmp_path: Path, text: str) -> None:
    (tmp_path / "class.csv").write_text(text, encoding="utf-8")
    found = roster.read(tmp_path / "class.csv")
    assert [one.id for one in found] == ["ada", "ben"]
    assert (found[0].last_name, found[0].first_name) == ("Lovelace", "Ada")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("name,mail\nada,x\n", "no column for the student's id"),
        ("student_id\n../etc\n", "line 2: '../etc'"),
        ("student_id\nada\nada\n", "line 3: ada appears twice"),
        ("student_id\n", "empty"),
        ("", "empty"),
        ("student_id,x\nada,1\n,2\n", "line 3: ''"),
    ],
)
def test_roster_refused(tmp_path: Path, text: str, word: str) -> None:
    (tmp_path / "class.csv").write_text(text)
    with pytest.raises(UserError) as caught:
        roster.read(tmp_path / "class.csv")
    assert word in str(caught.value)


def test_roster_unreadable(tmp_path: Path) -> None:
    (tmp_path / "class.csv").write_bytes(b"student_id\n\xff\xfe\n")
    for path in (tmp_path / "class.csv", tmp_path / "none.csv", tmp_path):
        with pytest.raises(UserError, match="could not be read"):
            roster.read(path)


def test_gradebook() -> None:
    """The eleven columns; no score where nothing could be graded; quoted properly."""
    some = [
        Record("ada", "wrong", 2.1, 10.0, timestamp="2026-11-21 10:45:51"),
        Record("ben", UNGRADED, None, 10.0),
        Record("cem", MISSING, 0.0, 10.0),
    ]
    text = gradebook.nbgrader(
        some, "week_3", {"ada": {"last_name": 'Love, "A"', "first_name": "Ada", "email": "a@b.c"}}
    )
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0] == (
        "assignment,duedate,timestamp,student_id,last_name,first_name,email,raw_score,late_submission_penalty,score,max_score"
    ).split(",")
    assert rows[1] == [
        "week_3",
        "",
        "2026-11-21 10:45:51",
        "ada",
        'Love, "A"',
        "Ada",
        "a@b.c",
        "2.1",
        "0.0",
        "2.1",
        "10.0",
    ]
    assert rows[2] == ["week_3", "", "", "ben", "", "", "", "", "", "", "10.0"]
    assert rows[3][7:] == ["0.0", "0.0", "0.0", "10.0"]


ONE = Submission("ada", Path("ada.ipynb"), digest="d" * 64)


def record(state: str = "wrong") -> Record:
    return Record("ada", state, 2.1, 10.0, notes=["é"], digest="d" * 64, by="grader 1")


def test_kept(tmp_path: Path) -> None:
    records.keep(tmp_path, record())
    assert records.kept(tmp_path, ONE, "grader 1") == record()
    assert [path.name for path in tmp_path.iterdir()] == ["ada.json"]


def test_not_used_again(tmp_path: Path) -> None:
    """For another file, another grader, another student, or what could not be graded: grade it once more."""
    records.keep(tmp_path, record())
    assert records.kept(tmp_path, replace(ONE, digest="e" * 64), "grader 1") is None
    assert records.kept(tmp_path, replace(ONE, digest=""), "grader 1") is None
    assert records.kept(tmp_path, ONE, "grader 2") is None
    assert records.kept(tmp_path, replace(ONE, student="ben"), "grader 1") is None
    records.keep(tmp_path, record(UNGRADED))
    assert records.kept(tmp_path, ONE, "grader 1") is None
    for spoilt in ("", "[]", '{"student": "ada"}', json.dumps({"unknown": 1})):
        (tmp_path / "ada.json").write_text(spoilt)
        assert records.kept(tmp_path, ONE, "grader 1") is None


def test_any_name(tmp_path: Path) -> None:
    """A folder may be called anything; two students never share a file, none lands elsewhere."""
    names = ["a b", "a_b", "a/b", "..", "ü", "\udcff", "x" * 300, "x" * 299 + "y"]
    for name in names:
        records.keep(tmp_path, replace(record(), student=name))
    assert len(list(tmp_path.iterdir())) == len(names)


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="--results"):
        records.make(tmp_path / "file" / "below")
    with pytest.raises(UserError, match="could not be written"):
        records.keep(tmp_path / "nowhere", record())
