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
    students = roster.read(tmp_path / "class.csv")
    assert [student.id for student in students] == ["ada", "ben"]
    assert (students[0].last_name, students[0].first_name) == ("Lovelace", "Ada")


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
    """nbgrader's eleven columns and the notes; no score where nothing could be graded; quoted properly."""
    some = [
        Record("ada", "wrong", 2.1, 10.0, notes=["renamed", "late; very"], timestamp="2026-11-21 10:45:51"),
        Record("ben", UNGRADED, None, 10.0, "no cells", ["odd"]),
        Record("cem", MISSING, 0.0, 10.0),
    ]
    text = gradebook.nbgrader(
        some, "week_3", {"ada": {"last_name": 'Love, "A"', "first_name": "Ada", "email": "a@b.c"}}
    )
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0] == (
        "assignment,duedate,timestamp,student_id,last_name,first_name,email,raw_score,late_submission_penalty,score,max_score,"
        "notes"
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
        "renamed; late; very",
    ]
    assert rows[2] == ["week_3", "", "", "ben", "", "", "", "", "", "", "10.0", "cannot be graded: no cells; odd"]
    assert rows[3][7:] == ["0.0", "0.0", "0.0", "10.0", "not handed in"]


def test_no_cell_of_a_gradebook_is_a_formula() -> None:
    """Names, file names and notes come from students; a spreadsheet computes what begins with one of these signs."""
    evil = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1+1", "\r=1+1", "\x1b[31m=1+1", " =1+1", "＝1+1"]
    some = [Record(text, "wrong", -0.5, 10.0, notes=[text], timestamp=text) for text in evil]
    people = {text: {"last_name": text, "first_name": text, "email": text} for text in evil}
    rows = list(csv.reader(io.StringIO(gradebook.nbgrader(some, "week_3", people))))
    for row in rows[1:]:
        assert len(row) == 12 and row[7] == row[9] == "-0.5", "a negative number stays one"
        for cell in (*row[2:7], row[11]):
            assert cell.startswith("'") and cell.endswith("1+1" if "SUM" not in cell else "(A1)") and "\x1b" not in cell


@pytest.mark.parametrize(
    ("header", "row", "name", "numbers"),
    [
        ("student_id,Full name,Identifier", "ada,Ada Lovelace,Participant 100200", "Ada Lovelace", ("100200",)),
        ("ID number,First name,Last name,username", "7,Ada,Lovelace,ada", "Ada Lovelace", ("7",)),
        (
            "Student,ID,SIS User ID,SIS Login ID,Section",
            '"Lovelace, Ada",ada,u99,alove,A',
            "Lovelace, Ada",
            ("Lovelace, Ada", "u99", "alove"),
        ),
    ],
)
def test_what_moodle_and_canvas_export(tmp_path: Path, header: str, row: str, name: str, numbers: tuple) -> None:
    (tmp_path / "class.csv").write_text(f"{header}\n{row}\n")
    (student,) = roster.read(tmp_path / "class.csv")
    assert (student.id, student.name, student.numbers) == ("ada", name, numbers)


def test_the_points_of_a_canvas_export_are_no_student(tmp_path: Path) -> None:
    text = 'Student,ID,Week 5 (12)\n    Points Possible,,10.00\n"Lovelace, Ada",4711,\n'
    (tmp_path / "class.csv").write_text(text)
    assert [student.id for student in roster.read(tmp_path / "class.csv")] == ["4711"]


ONE = Submission("ada", Path("ada.ipynb"), digest="d" * 64)


def record(state: str = "wrong") -> Record:
    return Record("ada", state, 2.1, 10.0, notes=["é"], file="ada.ipynb", digest="d" * 64, by="grader 1")


def test_kept(tmp_path: Path) -> None:
    records.keep(tmp_path, record())
    assert records.kept(tmp_path, ONE, "grader 1") == record()
    assert [path.name for path in tmp_path.iterdir()] == ["ada.json"]


def test_a_name_that_changed_is_told_though_the_file_is_graded(tmp_path: Path) -> None:
    """What is said about names of files is of today; what was said about the notebook stays."""
    records.keep(tmp_path, replace(record(), notes=["2 hand-ins", "é"], upload_notes=["2 hand-ins"], file="a"))
    restored = records.kept(tmp_path, replace(ONE, upload_notes=("renamed",)), "grader 1")
    assert restored and (restored.notes, restored.upload_notes, restored.file) == (
        ["renamed", "é"],
        ["renamed"],
        "ada.ipynb",
    )


def test_kept_texts_have_no_control_characters(tmp_path: Path) -> None:
    entry = replace(record(), message="\x1b[2JPASSED", repair={"checks": [{"saw": "a\x1b]8;;http://e\x07b\nc"}]})
    assert records.clean(entry).message == "PASSED"
    assert records.clean(entry).repair == {"checks": [{"saw": "ab\nc"}]}
    records.keep(tmp_path, entry)
    restored = records.kept(tmp_path, ONE, "grader 1")
    assert restored and restored.message == "PASSED"


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
