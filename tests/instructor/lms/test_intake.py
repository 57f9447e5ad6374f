"""Downloads of each system, as zips and as folders: who handed in what, and who did not."""

import json
from pathlib import Path

import pytest

from bugzoo.errors import UserError
from bugzoo.instructor import classroom, roster, tasks
from bugzoo.instructor.lms import intake
from bugzoo.instructor.records import MISSING, UNCLEAR
from tests.instructor.class_of import hand_in
from tests.instructor.lms import downloads
from tests.instructor.lms.downloads import NAME, notebook, unzipped, zipped

NOA = "nlevi"


def people(tmp_path: Path, text: str) -> dict:
    (tmp_path / "class.csv").write_text(text, encoding="utf-8")
    return roster.merged({}, roster.read(tmp_path / "class.csv", folders=False))


def look(source: Path, known: dict | None = None, system: str | None = None) -> intake.Handed:
    return intake.collect(source, NAME, tasks.load(NAME).original(), known, system)


@pytest.mark.parametrize("write", [zipped, unzipped])
@pytest.mark.parametrize("system", ["canvas", "moodle", "moodle_flat", "gradescope"])
def test_downloads(tmp_path: Path, system: str, write) -> None:
    """Each is recognised by its names, and every hand-in is read; without a roster everybody is called as there."""
    files = getattr(downloads, system)()
    handed = look(write(tmp_path / "download", files))
    assert handed.system == system.removesuffix("_flat") and not handed.unmatched
    assert [one.problem for one in handed.found] == [""] * len(handed.found)
    assert len(handed.found) == (4 if system == "gradescope" else 3)
    assert any("12345" in one.student or "Jane Doe" in one.student for one in handed.found)
    assert all(len(one.digest) == 64 and one.sections for one in handed.found)


def test_what_is_said_of_a_hand_in(tmp_path: Path) -> None:
    by = {one.place: one for one in look(zipped(tmp_path / "c.zip", downloads.canvas())).found}
    assert by["12346"].notes == ("handed in late, says Canvas",) and not by["12345"].notes
    by = {one.place: one for one in look(zipped(tmp_path / "m.zip", downloads.moodle())).found}
    assert by["123456"].notes == ("also handed in, and not looked at: onlinetext.html",)
    found = look(zipped(tmp_path / "g.zip", downloads.gradescope())).found
    assert {one.timestamp for one in found} == {"2026-11-02 10:15:00+00:00", "2026-11-02 11:00:00+00:00"}
    assert sum(one.place == "submission_500002" for one in found) == 2  # two submitters


ROSTERS = {
    "canvas": (downloads.CANVAS, {"jdoe": "system's number", "jmueller": "system's number"}),
    "moodle": (downloads.MOODLE, {"jane@x.edu": "system's number", "jm@x.edu": "system's number"}),
    "gradescope": (
        "First Name,Last Name,SID,Email\nJane,Doe,S001,jane@x.edu\nJürgen,Müller-Lüdenscheidt,S002,jm@x.edu\n"
        "נועה,לוי,S999,noa@x.edu\nZed,Zed,S004,z@x.edu\n",
        {"S001": "id as it is", "S002": "id as it is", "S999": "e-mail"},
    ),
}


@pytest.mark.parametrize("system", ROSTERS)
def test_matched(tmp_path: Path, system: str) -> None:
    """By the system's own numbers and addresses; whom nobody knows is told as such."""
    text, by = ROSTERS[system]
    handed = look(zipped(tmp_path / "all.zip", getattr(downloads, system)()), people(tmp_path, text))
    assert {one.student: one.matched for one in handed.found if not one.unmatched} == by
    (lost,) = handed.unmatched
    assert "else" in lost.student.lower() and "nobody on the roster fits" in lost.unmatched


NAMED = [
    ("id,last_name,first_name\na1,Doe,Jane\nb2,Müller-Lüdenscheidt,Jürgen\n", {"a1", "b2"}),
    ("id,name\na1,Jane Doe\nb2,JURGEN MULLER-LUDENSCHEIDT\n", {"a1", "b2"}),
    ("id;Name;E-Mail\na1;Doe, Jane;jane@x.edu\nb2;Jürgen Mu\u0308ller-Lüdenscheidt;\n", {"a1", "b2"}),
]


@pytest.mark.parametrize("system", ["canvas", "moodle", "moodle_flat"])
@pytest.mark.parametrize(("text", "ids"), NAMED)
def test_matched_by_name(tmp_path: Path, system: str, text: str, ids: set[str]) -> None:
    """Accents, order, and how Canvas writes names in one word."""
    handed = look(zipped(tmp_path / "all.zip", getattr(downloads, system)()), people(tmp_path, text))
    assert {one.student for one in handed.found if one.matched == "name"} == ids and len(handed.unmatched) == 1


def test_two_of_one_name(tmp_path: Path) -> None:
    """Neither gets it; a number that says one and a name that says another is nobody's."""
    known = people(tmp_path, "id,name\na1,Jane Doe\na2,Jane Doe\nb2,Jürgen Müller-Lüdenscheidt\n12346,Someone\n")
    handed = look(zipped(tmp_path / "all.zip", downloads.canvas()), known)
    said = {one.place: one.unmatched for one in handed.found}
    assert "fits 2 on the roster (a1, a2)" in said["12345"]
    assert "an id of 12346, and its name that of b2" in said["12346"]
    assert {"a1", "a2", "b2", "12346"}.isdisjoint({one.student for one in handed.found})


def test_not_handed_in_only_if_nothing_could_be_theirs(tmp_path: Path, monkeypatch) -> None:
    downloads.graded(monkeypatch)
    source, task = zipped(tmp_path / "all.zip", downloads.canvas()), tasks.load(NAME)
    for text, state, points in [
        (downloads.CANVAS, MISSING, 0.0),  # every number is known, and the unmatched one is another
        ("id,name\njdoe,Jane Doe\njm,Jürgen Müller-Lüdenscheidt\nnlevi,נועה לוי\n", UNCLEAR, None),
    ]:
        task.people = people(tmp_path, text)
        records = {one.student: one for one in classroom.grade_class(source, task, tmp_path / "kept")}
        assert (records[NOA].state, records[NOA].points) == (state, points)
        assert len(records) == 4 and records["elsesomebody (Canvas 55555)"].points == 3.5
    assert "1 unmatched hand-in could be theirs: elsesomebody (Canvas 55555)" in records[NOA].message


def test_in_nbgraders_tree_a_folder_is_a_login(tmp_path: Path) -> None:
    """`ben` is not `zed`; `adaa` may be `ada`, mistyped. A loose file's name may be anything."""
    for name in ("ben", "adaa", "eve"):
        hand_in(tmp_path / "in", name, notebook(name).decode(), NAME)
    known = people(tmp_path, "id,name\nada,\nzed,\neve,\n")
    handed = look(tmp_path / "in", known)
    assert handed.perhaps("zed") == [] and handed.perhaps("ada") == ["adaa"]
    (tmp_path / "in/work.ipynb").write_bytes(notebook())
    assert look(tmp_path / "in", known).perhaps("zed") == ["work"]


def test_a_roster_of_other_ids_rules_nobody_out(tmp_path: Path) -> None:
    """Logins beside matriculation numbers, and the worksheet of another assignment of Moodle's: names are asked, no zero."""
    hand_in(tmp_path / "in", "jdoe", notebook().decode(), NAME)
    known = people(tmp_path, "id,name\nS1,Jane Doe\n")
    assert look(tmp_path / "in", known).perhaps("S1") == ["jdoe"]
    known = people(tmp_path, downloads.MOODLE.replace("Participant 1", "Participant 7"))
    handed = look(zipped(tmp_path / "m.zip", downloads.moodle()), known)
    assert {one.student: one.matched for one in handed.found if one.matched} == {
        "jane@x.edu": "name",
        "jm@x.edu": "name",
    }
    assert handed.perhaps("noa@x.edu") == ["Somebody Else (Moodle 999999)"]


def test_a_folder_by_names(tmp_path: Path) -> None:
    """Ids in another case, addresses, and names as file names."""
    files = {f"{one}.ipynb": notebook(one) for one in ("ADA", "ben@x.edu", "cem_yilmaz", "dot")}
    known = people(tmp_path, "id,name,email\nada,,\nb2,,ben@x.edu\nc3,Yılmaz Cem,\nc4,Cem Yilmaz,\ndot,,\n")
    handed = look(unzipped(tmp_path / "in", files), known)
    found = {one.handed.rsplit("/", 1)[-1]: one.student for one in handed.found if one.matched}
    assert found == {"ADA.ipynb": "ada", "ben@x.edu.ipynb": "b2", "cem_yilmaz.ipynb": "c4", "dot.ipynb": "dot"}


def test_what_is_no_notebook_is_named(tmp_path: Path) -> None:
    files = {
        "ada.py": b"x", "ben.zip": b"PK", "cem.IPYNB": notebook(), "dot/solution.py": b"x", "dot/data.zip": b"PK",
        "eve/week.IPYNB": notebook(), "readme.md": b"", "fay.ipynb": notebook(), "fay.py": b"",
    }  # fmt: skip
    handed = look(unzipped(tmp_path / "in", files))
    found = {one.student: one for one in handed.found}
    assert found["ada"].problem == f"ada.py is no notebook; hand in {NAME}.ipynb"
    assert "ben.zip is no notebook" in found["ben"].problem and not found["cem"].problem and not found["eve"].problem
    assert found["dot"].problem == f"there is no notebook {NAME}.ipynb; there are data.zip, solution.py"
    assert not found["fay"].problem and "fay.py is no notebook" in found["fay"].notes[0]
    assert [str(one) for one in handed.left] == ["readme.md: it is no notebook"]


def test_two_hand_ins_of_one_student(tmp_path: Path) -> None:
    """Under two names: neither is graded, and both are named."""
    files = {"ada.ipynb": notebook("a"), "Ada Lovelace.ipynb": notebook("b")}
    (one,) = look(unzipped(tmp_path / "in", files), people(tmp_path, "id,name\nada,Ada Lovelace\n")).found
    assert "2 hand-ins of ada (Ada Lovelace.ipynb, ada.ipynb); keep the one that counts" in one.problem
    files = {f"doejane_1_{number}_{name}.ipynb": notebook(name) for number, name in enumerate((NAME, f"{NAME}-1"))}
    (one,) = look(zipped(tmp_path / "all.zip", files)).found
    assert not one.problem and one.handed.endswith(f"_{NAME}.ipynb")
    files = {f"doejane_1_{number}_{name}.ipynb": notebook(name) for number, name in enumerate("ab")}
    (one,) = look(zipped(tmp_path / "all.zip", files)).found
    assert "several notebooks (a.ipynb, b.ipynb)" in one.problem


def test_a_zip_of_a_folder(tmp_path: Path) -> None:
    """nbgrader's tree in a folder of its own, files in one, and one student alone."""
    tree = {f"submitted/{one}/{NAME}/{NAME}.ipynb": notebook(one) for one in ("ada", "ben")}
    assert [one.student for one in look(zipped(tmp_path / "a.zip", tree)).found] == ["ada", "ben"]
    flat = {f"submitted/{one}.ipynb": notebook(one) for one in ("ada", "ben")}
    assert [one.student for one in look(zipped(tmp_path / "b.zip", flat)).found] == ["ada", "ben"]
    alone = {f"ada/{NAME}/{NAME}.ipynb": notebook()}
    for source in (zipped(tmp_path / "c.zip", alone), unzipped(tmp_path / "in", alone)):
        assert [one.student for one in look(source).found] == ["ada"]


def test_said_from_where(tmp_path: Path) -> None:
    """--from where names mislead; blind marking and anonymous hand-ins match nobody."""
    files = {"a_1_2_b.ipynb": notebook("a")}
    assert look(unzipped(tmp_path / "in", files), system="nbgrader").found[0].student == "a_1_2_b"
    with pytest.raises(UserError, match="no system named 'blackboard'"):
        look(tmp_path / "in", system="blackboard")
    blind = {f"anon_ab12c_678901_{NAME}.ipynb": notebook()}
    (one,) = look(zipped(tmp_path / "all.zip", blind), people(tmp_path, downloads.CANVAS)).found
    assert one.unmatched and one.student == "anonymous ab12c (Canvas)"
    blind = {f"Participant 123457_123457_assignsubmission_file_/{NAME}.ipynb": notebook()}
    (one,) = look(zipped(tmp_path / "all.zip", blind), people(tmp_path, downloads.MOODLE)).found
    assert one.student == "jm@x.edu"


def test_notebooks_of_other_kinds(tmp_path: Path) -> None:
    """Format 3, another kernel, and a million outputs: said, and the others are read."""
    other, old, much = (json.loads(notebook(one)) for one in "rom")
    other["metadata"]["kernelspec"] = {"name": "ir", "language": "R", "display_name": "R"}
    old = {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": old["cells"]}]}
    code = next(cell for cell in much["cells"] if cell["cell_type"] == "code")
    code["outputs"] = [{"output_type": "stream", "name": "stdout", "text": []}] * 1_000_000
    few = json.loads(notebook("few"))
    next(cell for cell in few["cells"] if cell["cell_type"] == "code")["outputs"] = code["outputs"][:100_000]
    files = {"r": other, "old": old, "much": much, "few": few}
    files = {f"{name}.ipynb": json.dumps(made).encode() for name, made in files.items()}
    found = {one.student: one for one in look(unzipped(tmp_path / "in", files)).found}
    assert not found["r"].problem and found["r"].notes == (
        "the notebook says that it is for r; its program was read as Python",
    )
    assert "a notebook of format 3" in found["old"].problem and "save it again" in found["old"].problem
    assert "clear its outputs" in found["much"].problem and not found["few"].problem
