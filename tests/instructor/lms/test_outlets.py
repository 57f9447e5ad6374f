"""Round trips through the files that Canvas, Moodle, Gradescope and nbgrader give and take."""

import csv
import io
import json
from pathlib import Path

import pytest

from bugzoo.errors import UserError
from bugzoo.instructor import classroom, gradebook, roster, tasks
from bugzoo.instructor.lms import outlets
from bugzoo.instructor.records import MISSING, UNGRADED, Record
from tests.instructor.lms import downloads
from tests.instructor.lms.downloads import NAME, notebook, unzipped, zipped

FLAT = "Flat loss (700002)"


@pytest.fixture
def canvas(tmp_path: Path) -> Path:
    (tmp_path / "grades.csv").write_text(downloads.CANVAS, encoding="utf-8", newline="")
    return tmp_path / "grades.csv"


@pytest.fixture
def moodle(tmp_path: Path) -> Path:
    (tmp_path / "sheet.csv").write_text(downloads.MOODLE, encoding="utf-8", newline="")
    return tmp_path / "sheet.csv"


def grade(source: Path, to: list[str], tmp_path: Path, column: str | None = None) -> tuple[list[Record], list[str]]:
    """As the command does it."""
    task = tasks.load(NAME)
    outs = outlets.prepare(to, task, column)
    task.people = outlets.known({}, [], outs)
    records = classroom.grade_class(source, task, tmp_path / "kept")
    return records, [out.write(records, task.people) for out in outs]


def test_canvas_round_trip(tmp_path: Path, canvas: Path, monkeypatch) -> None:
    """Only the cells of the column change; twice is as once; what was there first lies beside."""
    downloads.graded(monkeypatch)
    source = zipped(tmp_path / "all.zip", downloads.canvas())
    for again in (False, True):
        records, (said,) = grade(source, [f"canvas={canvas}"], tmp_path, "flat loss")
        assert [one.student for one in records] == ["elsesomebody (Canvas 55555)", "jdoe", "jmueller", "nlevi"]
        assert f"2 scores written to {canvas}, in the column '{FLAT}'" in said and "Not in it: elsesomebody" in said
        assert ("1 of them replaced another one" in said) is not again
        wanted = downloads.CANVAS.replace("8.00,,80.0", "8.00,3.50,80.0").replace("9.00,3.00,", "9.00,3.50,")
        assert canvas.read_bytes() == wanted.encode()  # נועה handed in nothing: her cell stays empty
    assert (tmp_path / "grades.before.csv").read_bytes() == downloads.CANVAS.encode()
    later = downloads.CANVAS.replace("8.00", "9.00").encode()  # another export under the same name
    canvas.write_bytes(later)
    grade(source, [f"canvas={canvas}"], tmp_path, "flat loss")
    assert (tmp_path / "grades.before2.csv").read_bytes() == later
    assert (tmp_path / "grades.before.csv").read_bytes() == downloads.CANVAS.encode()


@pytest.mark.parametrize("column", ["Flat loss", FLAT, "700002", "FLAT LOSS "])
def test_canvas_column(canvas: Path, column: str) -> None:
    assert outlets.prepare([f"canvas={canvas}"], tasks.load(NAME), column)


def test_canvas_points_of_another_sum(tmp_path: Path, canvas: Path, monkeypatch) -> None:
    """Canvas's points possible count: 3.5 of 10 are 35 of 100, and it is said."""
    downloads.graded(monkeypatch)
    canvas.write_text(downloads.CANVAS.replace("10.00,10.00,(read", "10.00,100.00,(read"), encoding="utf-8", newline="")
    _, (said,) = grade(zipped(tmp_path / "all.zip", downloads.canvas()), [f"canvas={canvas}"], tmp_path, FLAT)
    assert "of 100 points instead of 10" in said and "8.00,35.00,80.0" in canvas.read_text(encoding="utf-8")


def test_canvas_refused(tmp_path: Path, canvas: Path) -> None:
    task = tasks.load(NAME)
    with pytest.raises(UserError, match=r"Its assignments are 'Week 2 \(700001\)', 'Flat loss \(700002\)'. Say which"):
        outlets.prepare([f"canvas={canvas}"], task)
    with pytest.raises(UserError, match="no column 'Section'"):
        outlets.prepare([f"canvas={canvas}"], task, "Section")
    canvas.write_text(downloads.CANVAS.replace("Week 2", "Flat loss"), encoding="utf-8", newline="")
    with pytest.raises(UserError, match="2 columns called 'Flat loss'"):
        outlets.prepare([f"canvas={canvas}"], task, "Flat loss")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    for system, word in (("canvas", "no gradebook of Canvas's"), ("moodle", "no grading worksheet of Moodle's")):
        with pytest.raises(UserError, match=word):
            outlets.prepare([f"{system}={tmp_path / 'other.csv'}"], task)
    for text, word in [
        ("canvas", "SYSTEM=PLACE"), ("canvas=", "SYSTEM=PLACE"), ("blackboard=x", "no system named"),
        (f"canvas={tmp_path / 'none.csv'}", "could not be read"), (f"canvas={tmp_path / 'none/x.csv'}", "there is no folder"),
        (f"gradescope={canvas}", "is no folder"), (f"nbgrader={canvas}", "no SQLite file"),
    ]:  # fmt: skip
        with pytest.raises(UserError, match=word):
            outlets.prepare([text], task)
    with pytest.raises(UserError, match="--column 'x' is for"):
        outlets.prepare([], task, "x")


def test_moodle_round_trip(tmp_path: Path, moodle: Path, monkeypatch) -> None:
    """Grade, of Moodle's own maximum, and feedback, in which what a submission printed stays text."""
    downloads.graded(monkeypatch)
    _, (said,) = grade(zipped(tmp_path / "all.zip", downloads.moodle()), [f"moodle={moodle}"], tmp_path)
    assert "2 scores written" in said and "of Moodle's maximum grade" in said and "Somebody Else" in said
    text = moodle.read_bytes().decode("utf-8")
    before = list(csv.reader(io.StringIO(downloads.MOODLE)))
    after = list(csv.reader(io.StringIO(text)))
    assert text.startswith("\ufeff") and text.count("\r\n") == 4 and after[0] == before[0] and after[3] == before[3]
    for row, old in zip(after[1:3], before[1:3], strict=True):
        assert row[:4] == old[:4] and row[5:9] == old[5:9] and row[4] == "7.00"
        assert "Repair: 3.5 of 7. &lt;b&gt;half&lt;/b&gt; of it" in row[9]


def test_moodle_locked_and_without_feedback(tmp_path: Path, moodle: Path, monkeypatch) -> None:
    downloads.graded(monkeypatch)
    text = downloads.MOODLE.replace("20.00,Yes", "20.00,No", 1).replace('"Feedback comments"', "Remarks")
    moodle.write_text(text, encoding="utf-8", newline="")
    _, (said,) = grade(zipped(tmp_path / "all.zip", downloads.moodle()), [f"moodle={moodle}"], tmp_path)
    assert "1 score written" in said and "jane@x.edu (locked)" in said and "no column 'feedback comments'" in said
    assert text.splitlines()[1] in moodle.read_text(encoding="utf-8")
    with pytest.raises(UserError, match=r"no column 'points'. Its columns are Identifier, Full name"):
        outlets.prepare([f"moodle={moodle}"], tasks.load(NAME), "Points")


def test_gradescope_results(tmp_path: Path, monkeypatch) -> None:
    downloads.graded(monkeypatch)
    files = downloads.gradescope() | {"assignment_42_export/submission_500009/notes.txt": b""}
    grade(zipped(tmp_path / "all.zip", files), [f"gradescope={tmp_path / 'out'}"], tmp_path)
    found = {path.parent.name: json.loads(path.read_text()) for path in (tmp_path / "out").rglob("results.json")}
    assert sorted(found) == ["submission_500001", "submission_500002", "submission_500003", "submission_500009"]
    one = found["submission_500001"]
    assert one["score"] == 3.5 and [test["name"] for test in one["tests"]] == ["Repair", "Diagnosis"]
    assert [(test["score"], test["max_score"], test["status"]) for test in one["tests"]] == [
        (3.5, 7.0, "failed"),
        (0.0, 3.0, "failed"),
    ]
    none = found["submission_500009"]
    assert "score" not in none and not none["tests"] and "there is no notebook" in none["output"]


def test_neither_a_zero_for_whom_nothing_was_found(tmp_path: Path, canvas: Path) -> None:
    """What cannot be graded, and who handed in nothing, keep what stands in Canvas."""
    task = tasks.load(NAME)
    (out,) = outlets.prepare([f"canvas={canvas}"], task, "Flat loss")
    records = [
        Record("jdoe", UNGRADED, None, 10.0),
        Record("jmueller", MISSING, 0.0, 10.0),
        Record("nlevi", "wrong", 0.0, 10.0),
    ]
    assert "1 score written" in out.write(records, {})
    noa = '"לוי, נועה",12347,S003,nlevi,"Deep Learning, A",,'
    assert canvas.read_bytes() == downloads.CANVAS.replace(noa, noa + "0.00").encode()


def test_nbgrader_export_reads_what_was_written(tmp_path: Path, monkeypatch) -> None:
    """Into a gradebook that is not there yet and into nbgrader's own; a person's score stays."""
    downloads.graded(monkeypatch)
    from tests.exercises.course import Course

    course = Course(tmp_path)
    book = course.folder / "gradebook.db"
    source = unzipped(tmp_path / "in", {"ada.ipynb": notebook("a"), "ben.ipynb": notebook("b"), "cem.ipynb": b"{"})
    _, (said,) = grade(source, [f"nbgrader={book}"], tmp_path)
    assert "2 scores written" in said and "1 without a score wait there for a person" in said
    assert course.points(NAME, "ada") == {"repair": (3.5, 7.0), "diagnosis": (0.0, 3.0)}
    course.call("export")
    with (course.folder / "grades.csv").open(newline="") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    assert {name: row["score"] for name, row in rows.items()} == {"ada": "3.5", "ben": "3.5", "cem": "0.0"}
    assert {row["max_score"] for row in rows.values()} == {"10.0"} and rows["ada"]["timestamp"].startswith("20")
    overridden(book, "ben", 6.0)
    grade(source, [f"nbgrader={book}"], tmp_path)
    course.call("export")
    with (course.folder / "grades.csv").open(newline="") as file:
        assert {row["student_id"]: row["score"] for row in csv.DictReader(file)} == {
            "ada": "3.5",
            "ben": "6.0",
            "cem": "0.0",
        }


def overridden(book: Path, student: str, points: float) -> None:
    import contextlib
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from nbgrader.api import Gradebook

        with contextlib.closing(Gradebook(f"sqlite:///{book}")) as open_book:
            open_book.find_grade("repair", NAME, NAME, student).manual_score = points
            open_book.db.commit()


EVIL = "=cmd|' /C calc'!A0"


def test_no_cell_is_a_formula(tmp_path: Path) -> None:
    """Names, notes and ids in our own table; in Canvas's nothing but our column changes, whatever else stands there."""
    records = [
        Record(EVIL, "wrong", 1.0, 10.0, f"{EVIL}\n\x1b[31mred", notes=["+1"]),
        Record("@b", "wrong", 1.0, 10.0, "-2+3"),
    ]
    text = gradebook.nbgrader(records, NAME, {EVIL: {"last_name": "\t=1+1", "first_name": " =1", "email": "-a@b.c"}})
    rows = list(csv.reader(io.StringIO(text)))[1:]
    cells = [cell for row in rows for cell in row]
    assert not [cell for cell in cells if cell.lstrip().startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert not [one for one in text if ord(one) < 32 and one != "\n"] and "\\x1b[31mred" in text
    assert rows[0][3] == f"'{EVIL}" and rows[1][3] == "'@b"


def test_in_canvas_a_strange_name_stays_as_it_is(tmp_path: Path, canvas: Path, monkeypatch) -> None:
    downloads.graded(monkeypatch)
    before = downloads.CANVAS.replace('"Doe, Jane"', f'"{EVIL}"')
    canvas.write_text(before, encoding="utf-8", newline="")
    grade(zipped(tmp_path / "all.zip", downloads.canvas()), [f"canvas={canvas}"], tmp_path, "Flat loss")
    assert (
        canvas.read_bytes()
        == before.replace("8.00,,80.0", "8.00,3.50,80.0").replace("9.00,3.00,", "9.00,3.50,").encode()
    )


def test_people_of_a_plain_roster_find_their_rows(tmp_path: Path, canvas: Path, moodle: Path) -> None:
    """Ids of our own, laid on Canvas's and Moodle's rows by name; each file tells its numbers to the intake."""
    (tmp_path / "class.csv").write_text("id,name\na1,Jane Doe\nb2,Jurgen Muller-Ludenscheidt\nc3,Zed\n")
    outs = outlets.prepare([f"canvas={canvas}", f"moodle={moodle}"], tasks.load(NAME), FLAT)
    people = outlets.known({}, roster.read(tmp_path / "class.csv"), outs)
    assert list(people) == ["a1", "b2", "c3"] and (people["a1"]["canvas"], people["a1"]["moodle"]) == (
        "12345",
        "123456",
    )
    for out in outs:
        said = out.write([Record("a1", "wrong", 5.0, 10.0), Record("c3", "wrong", 5.0, 10.0)], people)
        assert "1 score written" in said and "Not in it: c3" in said
    assert "8.00,5.00,80.0" in canvas.read_text(encoding="utf-8")
