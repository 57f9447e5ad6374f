"""Points by hand: read, refused, applied last, and still there after everything was graded again."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bugzoo.errors import UserError
from bugzoo.instructor import gradebook
from bugzoo.instructor.course import overrides, standing
from bugzoo.instructor.records import Record
from tests.instructor.class_of import hand_in

TOML = """
[ada]
repair = 7
reason = "graded on another machine"
[ben]
points = 5
reason = "oral examination"
["zoë k."]
points = 2
reason = "handed in by mail"
"""
POLICY = "due = 2026-10-05T23:59:00Z\nlate_penalty = 0.5\n"


def part(points: float, most: float) -> dict:
    return {"points": points, "max_points": most, "status": "wrong", "checks": [], "message": ""}


def read(tmp_path: Path, text: str, name: str = "overrides.toml") -> overrides.Overrides:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return overrides.read(tmp_path / name)


def test_applied_last(tmp_path: Path) -> None:
    read(tmp_path, TOML)
    (tmp_path / "policy.toml").write_text(POLICY)
    rules = standing.read(tmp_path / "policy.toml").beside(tmp_path)
    late = "2026-10-06 12:00:00 UTC"
    class_ = [
        Record("ada", "wrong", 2.0, 10.0, repair=part(0.0, 7.0), diagnosis=part(2.0, 3.0), timestamp=late),
        Record("ben", "cannot be graded", None, 10.0, timestamp=late),
        Record("cem", "wrong", 4.0, 10.0, repair=part(4.0, 7.0), timestamp=late),
        Record("zoë k.", "not handed in", 0.0, 10.0),
    ]
    ada, ben, cem, zoe = standing.applied(class_, rules)
    assert (ada.raw, ada.points, ada.repair and ada.repair["points"]) == (2.0, 4.5, 7.0)  # 7 + 2, of which half is late
    assert "instead of 0: graded on another machine" in ada.changes[0] and "4.5 points (50%)" in ada.changes[1]
    assert (ben.raw, ben.points, ben.changes) == (
        None, 5.0, ["5 points were given by hand instead of no score: oral examination"]
    )  # fmt: skip
    assert (cem.points, zoe.points, zoe.state) == (2.0, 2.0, "given by hand")
    assert class_[0].repair == part(0.0, 7.0), "the grader's own record must stay as it was"
    rows = {
        row["student_id"]: row for row in csv.DictReader(gradebook.nbgrader([ada, ben, cem, zoe], "w", {}).splitlines())
    }
    assert [rows[name]["score"] for name in ("ada", "ben", "cem", "zoë k.")] == ["4.5", "5.0", "2.0", "2.0"]
    assert (rows["ada"]["raw_score"], rows["ada"]["late_submission_penalty"]) == ("2.0", "4.5")
    assert "oral examination" in rows["ben"]["note"] and rows["cem"]["duedate"] == "2026-10-05 23:59 (UTC)"


def test_csv_says_the_same(tmp_path: Path) -> None:
    text = (
        "student,points,repair,diagnosis,reason\nada,,7,,graded on another machine\nben,5,,,oral examination\n"
        "zoë k.,2,,,handed in by mail\n"
    )
    assert read(tmp_path, text, "overrides.csv").of == read(tmp_path, TOML).of
    with pytest.raises(UserError, match="both hold overrides"):
        overrides.find(tmp_path)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("[ada]\npoints = 5", "the override of ada gives no reason"),
        ('[ada]\npoints = 5\nreason = " "', "gives no reason"),
        ('[ada]\nreason = "x"', "names no points"),
        ('[ada]\npoints = 5\nrepair = 2\nreason = "x"', "either points, or repair"),
        ('[ada]\npoints = -1\nreason = "x"', "points = -1 of ada is not allowed"),
        ('[ada]\npoints = inf\nreason = "x"', "is not allowed"),
        ('[ada]\npoint = 1\nreason = "x"', "there is no 'point'"),
        ("ada = 5", "below .ada. stand points and a reason"),
        ("ada", "it is no TOML"),
    ],
)
def test_refused(tmp_path: Path, text: str, word: str) -> None:
    with pytest.raises(UserError, match=word):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("student,points\nada,5\n", "has no column reason"),
        ("student,points,reason\nada,five,x\n", "points = 'five' of ada"),
        ("student,points,reason\nada,5,x\nada,6,y\n", "ada is there twice"),
    ],
)
def test_refused_tables(tmp_path: Path, text: str, word: str) -> None:
    with pytest.raises(UserError, match=word):
        read(tmp_path, text, "overrides.csv")


@pytest.mark.usefixtures("sandboxed")
def test_the_command(tmp_path: Path, bugzoo: Callable) -> None:
    """Real hand-ins of an exercise: an unknown student is told before grading, and `--fresh` keeps what was given."""
    from bugzoo.grading.exercises import load
    from bugzoo.grading.notebook import build

    name = "16_flat_loss"
    path = hand_in(tmp_path / "in", "ada", build(load(name), "student"), name)
    path.with_name("timestamp.txt").write_text("2026-10-06 12:00:00 UTC\n")
    hand_in(tmp_path / "in", "ben", "no notebook", name)
    given = ("grade", str(tmp_path / "in"), "--assignment", name, "--results", str(tmp_path / "out"))
    (tmp_path / "wrong.toml").write_text('[adda]\npoints = 3\nreason = "x"\n')
    told = bugzoo(*given, "--overrides", str(tmp_path / "wrong.toml"))
    assert told.code == 2 and "Did you mean ada?" in told.err and not (tmp_path / "out").exists()
    (tmp_path / "policy.toml").write_text(POLICY + "extensions = { adda = '2026-10-09' }")
    told = bugzoo(*given, "--policy", str(tmp_path / "policy.toml"))
    assert told.code == 2 and "an extension for 'adda'" in told.err and not (tmp_path / "out").exists()

    first = bugzoo(*given)
    assert first.code == 0, first.err
    kept = tmp_path / "out" / name / "ada.json"
    before = kept.read_bytes()
    (tmp_path / "out" / name / "overrides.toml").write_text('[ada]\nrepair = 6\nreason = "=cmd by hand"\n')
    (tmp_path / "policy.toml").write_text(POLICY)
    more = (
        "--policy",
        str(tmp_path / "policy.toml"),
        "--csv",
        str(tmp_path / "b.csv"),
        "--json",
        str(tmp_path / "a.json"),
    )
    for fresh in ((), ("--fresh",)):
        done = bugzoo(*given, *more, *fresh)
        assert done.code == 0 and "=cmd by hand" in done.out and "overrides.toml" in done.out, done.err
        assert fresh or kept.read_bytes() == before, "a policy must grade nothing again"
        ada, ben = json.loads((tmp_path / "a.json").read_text())["students"]
        assert (ada["raw"], ada["points"], ada["penalty"], ben["points"]) == (0.0, 3.0, 3.0, None)
        row = next(csv.DictReader((tmp_path / "b.csv").read_text().splitlines()))
        assert (row["raw_score"], row["score"]) == ("0.0", "3.0") and "1 late day" in row["note"]
    assert json.loads(kept.read_text())["points"] == 0.0
