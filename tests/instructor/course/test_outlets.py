"""What policy and overrides did arrives where an LMS reads: nbgrader's export, Gradescope's results, Moodle's comments."""

import csv
import json
from pathlib import Path

from bugzoo.instructor import tasks
from bugzoo.instructor.course import standing
from bugzoo.instructor.lms import outlets
from bugzoo.instructor.records import Record
from tests.exercises.course import Course
from tests.instructor.lms.downloads import NAME


def part(points: float, most: float) -> dict:
    return {"points": points, "max_points": most, "status": "wrong", "checks": [], "message": ""}


def test_points_that_count(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text("due = 2026-10-05T23:59:00Z\nlate_penalty = 0.5\n")
    (tmp_path / "overrides.toml").write_text(
        '[ben]\npoints = 9\nreason = "oral"\n[zed]\npoints = 1\nreason = "by mail"\n'
    )
    rules = standing.read(tmp_path / "policy.toml").beside(tmp_path)
    graded = {"repair": part(3.5, 7.0), "diagnosis": part(0.5, 3.0), "timestamp": "2026-10-06 12:00:00 UTC"}
    records = [Record(name, "wrong", 4.0, 10.0, **graded) for name in ("ada", "ben")]
    records = standing.applied([*records, Record("zed", "not handed in", 0.0, 10.0)], rules)
    course = Course(tmp_path / "course")
    book = course.folder / "gradebook.db"
    outs = outlets.prepare([f"nbgrader={book}", f"gradescope={tmp_path / 'out'}"], tasks.load(NAME))
    for _ in range(2):  # a second time is the same
        said, failed = outlets.write(outs, records, {})
        assert not failed and "3 scores written" in said[0], said
    course.call("export")
    with (course.folder / "grades.csv").open(newline="") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    assert {name: row["score"] for name, row in rows.items()} == {"ada": "2.0", "ben": "9.0", "zed": "1.0"}
    assert (rows["ada"]["raw_score"], rows["ada"]["late_submission_penalty"]) == ("4.0", "2.0")
    found = {path.parent.name: json.loads(path.read_text()) for path in (tmp_path / "out").rglob("results.json")}
    assert {name: one["score"] for name, one in found.items()} == {"ada": 2.0, "ben": 9.0, "zed": 1.0}
    assert "1 late day begun" in found["ada"]["output"] and "What counts: 2 of 10." in found["ada"]["output"]
    assert "by hand instead of 2: oral" in found["ben"]["output"]
