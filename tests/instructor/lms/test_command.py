"""`bugzoo grade` and `bugzoo gradescope` as they are typed: what is said, where, and what is written."""

import csv
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from bugzoo.instructor import Assignment, write
from bugzoo.instructor.lms import autograder
from tests.cli.conftest import bugzoo  # noqa: F401
from tests.instructor.class_of import written_proof
from tests.instructor.lms import downloads
from tests.instructor.lms.downloads import NAME, notebook, unzipped, zipped

GRADE = ("--assignment", NAME)


def test_canvas_from_the_zip_to_its_own_gradebook(bugzoo: Any, tmp_path: Path, monkeypatch) -> None:  # noqa: F811
    """Unmatched hand-ins stand on stderr, in the table, in the CSV and in the JSON, and are nobody's points."""
    downloads.graded(monkeypatch)
    source = zipped(tmp_path / "submissions.zip", downloads.canvas() | {"../../evil.ipynb": b""})
    (tmp_path / "grades.csv").write_text(downloads.CANVAS, encoding="utf-8", newline="")
    words = ("--to", f"canvas={tmp_path}/grades.csv", "--column", "Flat loss", "--csv", f"{tmp_path}/book.csv")
    called = bugzoo("grade", str(source), *GRADE, *words, f"--json={tmp_path}/all.json")
    assert called.code == 0, called.err
    who = "elsesomebody (Canvas 55555)"
    assert "1 hand-in matches nobody on the roster; points for them are nobody's:" in called.err
    assert (
        f"  {who}: nobody on the roster fits it" in called.err and "../../evil.ipynb: its name leads out" in called.err
    )
    assert "NOBODY'S HAND-IN" in called.out and "2 scores written to" in called.out
    with (tmp_path / "book.csv").open(newline="") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    assert rows[who]["note"].startswith("NOBODY'S HAND-IN: nobody on the roster fits it")
    assert (rows["jdoe"]["last_name"], rows["jdoe"]["repair"], rows["jdoe"]["state"]) == ("Doe", "3.5", "wrong")
    found = json.loads((tmp_path / "all.json").read_text())
    assert found["from"] == "canvas" and len(found["left_aside"]) == 1 and found["written"][0].startswith("2 scores")
    assert (tmp_path / "submissions_graded" / NAME / "jdoe.json").is_file()  # beside the zip, and never in it


def test_a_second_call_matches_anew_and_grades_nothing(bugzoo: Any, tmp_path: Path, monkeypatch) -> None:  # noqa: F811
    """What changes between two calls is the roster: only whom it names otherwise is graded again."""
    seen = downloads.graded(monkeypatch)
    source = zipped(tmp_path / "all.zip", downloads.moodle())
    (tmp_path / "class.csv").write_text(
        "id,name\nada,Jane Doe\nben,Jürgen Müller-Lüdenscheidt\nzed,Z\n", encoding="utf-8"
    )
    given = ("grade", str(source), *GRADE, "--students", f"{tmp_path}/class.csv", "--json")
    states = {one["student"]: one["state"] for one in json.loads(bugzoo(*given).out)["students"]}
    assert states["zed"] == "unmatched hand-ins" and len(seen) == 3
    (tmp_path / "class.csv").write_text(downloads.MOODLE.replace("123458", "999999"), encoding="utf-8", newline="")
    found = {one["student"]: one for one in json.loads(bugzoo(*given).out)["students"]}
    assert set(found) == {"jane@x.edu", "jm@x.edu", "noa@x.edu"} and not any(one["unmatched"] for one in found.values())
    assert len(seen) == 6
    bugzoo(*given)
    assert len(seen) == 6


def test_said_before_anything_is_graded(bugzoo: Any, tmp_path: Path, monkeypatch) -> None:  # noqa: F811
    seen = downloads.graded(monkeypatch)
    source = unzipped(tmp_path / "in", {"ada.ipynb": notebook()})
    (tmp_path / "locked").mkdir()
    (tmp_path / "file.txt").write_text("text")
    for words, said in [
        (("",), "is no path"),
        ((str(tmp_path / "file.txt"),), "is no folder and no zip"),
        ((str(source), "--to", f"canvas={tmp_path}/none.csv"), "none.csv could not be read"),
        ((str(source), "--to", f"gradescope={tmp_path}/file.txt"), "is no folder"),
        ((str(source), "--results", f"{tmp_path}/file.txt/kept"), "is no folder"),
        ((str(source), "--from", "blackboard"), "no system named"),
        ((str(source), "--encoding", "gbk"), "--students"),
        ((str(source), "--column", "x"), "--column"),
    ]:
        called = bugzoo("grade", *words, *GRADE)
        assert called.code == 2 and said in called.err and "Traceback" not in called.err, (words, called.err)
    assert not seen and sorted(path.name for path in tmp_path.iterdir()) == ["file.txt", "in", "locked"]


def test_a_roster_of_windows_is_said(bugzoo: Any, tmp_path: Path, monkeypatch) -> None:  # noqa: F811
    downloads.graded(monkeypatch)
    source = unzipped(tmp_path / "in", {"Jürgen Müller.ipynb": notebook()})
    (tmp_path / "class.csv").write_bytes("id;Vorname;name\na1;;Jürgen Müller\n".encode("cp1252"))
    called = bugzoo("grade", str(source), *GRADE, "--students", str(tmp_path / "class.csv"))
    assert called.code == 0 and "it was read as Windows-1252" in called.err and "a1" in called.out


def test_terminal_codes_are_harmless(bugzoo: Any, tmp_path: Path, monkeypatch) -> None:  # noqa: F811
    """In the name of a file, in what a hand-in says of itself, in the roster, and in the name of another file."""
    downloads.graded(monkeypatch)
    red = "\x1b[31m\x1b]0;owned\x07"
    made = json.loads(notebook())
    made["metadata"]["bugzoo"] = {"assignment": red, "ticket": red}
    made["metadata"]["kernelspec"] = {"language": red}
    files = {f"{red}eve.ipynb": json.dumps(made).encode(), f"{red}.md": b"", "=cmd|' /C calc'!A0.ipynb": notebook()}
    called = bugzoo("grade", str(unzipped(tmp_path / "in", files)), *GRADE, "--csv", str(tmp_path / "book.csv"))
    assert called.code == 0
    for text in (called.out, called.err, (tmp_path / "book.csv").read_text()):
        assert "\x1b" not in text and "\x07" not in text
    assert "'=cmd|" in (tmp_path / "book.csv").read_text()


@pytest.mark.usefixtures("sandboxed")
@pytest.mark.slow
def test_the_autograder_grades_one_hand_in(bugzoo: Any, tmp_path: Path) -> None:  # noqa: F811
    """The zip as Gradescope unpacks it, and its own script, in a process that knows no other bugzoo."""
    called = bugzoo("gradescope", NAME, "-o", str(tmp_path / "autograder.zip"))
    assert called.code == 0 and "is ready" in called.out, called.err
    root = tmp_path / "autograder"
    with zipfile.ZipFile(tmp_path / "autograder.zip") as archive:
        assert {"setup.sh", "run_autograder", "requirements.txt"} <= set(archive.namelist())
        assert archive.getinfo("run_autograder").external_attr >> 16 & 0o111 == 0o111
        archive.extractall(root / "source")
    assert subprocess.run(["sh", "-n", root / "source/setup.sh"], check=False).returncode == 0
    needed = (root / "source/requirements.txt").read_text()
    assert "torch" in needed and "pytest" not in needed
    about = {"users": [{"email": "jane@x.edu", "id": 1, "name": "Jane Doe"}], "created_at": "2026-11-02T10:15:00Z"}
    (root / "submission_metadata.json").write_text(json.dumps(about))
    unzipped(root / "submission", {"work.ipynb": notebook()})
    done = subprocess.run(
        ["sh", root / "source/run_autograder"], cwd=tmp_path, check=False, capture_output=True, text=True,
        env=os.environ | {"AUTOGRADER": str(root), "PYTHON": sys.executable},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads((root / "results/results.json").read_text())
    assert found["score"] == 0 and "not attempted" in found["output"] and len(found["tests"]) == 2
    # without a notebook, and where the grader itself is broken: no score, and a reason
    (root / "submission/work.ipynb").rename(root / "submission/work.py")
    for spoil, word in [
        (lambda: None, "there is no notebook"),
        ((root / "source/autograder.json").unlink, "the grader failed"),
    ]:
        spoil()
        autograder.main(root)
        found = json.loads((root / "results/results.json").read_text())
        assert word in found["output"] and "score" not in found and not found["tests"]


def test_an_assignments_autograder_holds_its_key(bugzoo: Any, small: Assignment, tmp_path: Path) -> None:  # noqa: F811
    week = write(written_proof(small), tmp_path / "week_3")
    called = bugzoo("gradescope", str(week), "-o", str(tmp_path / "a.zip"), f"--json={tmp_path}/said.json")
    assert called.code == 0, called.err
    names = json.loads((tmp_path / "said.json").read_text())["files"]
    assert "assignment/instructor/key.json" in names and "bugzoo/grading/grade.py" in names
    assert not [
        name for name in names if "__pycache__" in name or ("solution" in name.split("/")[-1] and name[0] == "a")
    ]


@pytest.mark.parametrize("out", ["none/a.zip", ""])
def test_no_place_for_the_zip(bugzoo: Any, tmp_path: Path, monkeypatch, out: str) -> None:  # noqa: F811
    monkeypatch.chdir(tmp_path)
    called = bugzoo("gradescope", NAME, "-o", out)
    assert called.code == 2 and not list(tmp_path.glob("*.zip"))
