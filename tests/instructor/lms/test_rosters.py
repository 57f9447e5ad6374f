"""Rosters as offices and systems write them: encodings, separators, quotes, scripts, and what is wrong with a line."""

from pathlib import Path

import pytest

from bugzoo.errors import UserError
from bugzoo.instructor import roster
from tests.instructor.lms.downloads import CANVAS, MOODLE

TEXT = 'id,last_name,first_name\na1,"Müller, Ph. D.","Jürgen ""Jo"""\nb2,Đoàn,Văn\n'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(("separator", "end"), [(",", "\n"), (";", "\r\n"), ("\t", "\r")])
def test_encodings_and_separators(tmp_path: Path, encoding: str, separator: str, end: str) -> None:
    text = TEXT.replace(", Ph", "; Ph").replace(",", separator).replace("\n", end)
    (tmp_path / "class.csv").write_bytes(text.encode(encoding))
    first, second = roster.read(tmp_path / "class.csv")
    assert (first.last_name, first.first_name) == ("Müller; Ph. D.", 'Jürgen "Jo"')
    assert (second.id, second.last_name, second.first_name) == ("b2", "Đoàn", "Văn")


def test_other_encodings_are_guessed_or_named(tmp_path: Path) -> None:
    path = tmp_path / "class.csv"
    path.write_bytes("id,name\na1,Jürgen\n".encode("cp1252"))
    assert roster.read(path)[0].name == "Jürgen"
    path.write_bytes("id,name\na1,陈伟\n".encode("gbk"))
    assert roster.read(path, encoding="gbk")[0].name == "陈伟"
    with pytest.raises(UserError, match="could not be read as a CSV file in utf-8"):
        roster.read(path, encoding="utf-8")
    with pytest.raises(UserError, match="'klingon' is no encoding"):
        roster.read(path, encoding="klingon")


def test_right_to_left_and_ids_in_any_script(tmp_path: Path) -> None:
    path = tmp_path / "class.csv"
    path.write_text("id,name\nנועה,נועה לוי\n陈伟,陈伟\n", encoding="utf-8")
    assert [one.id for one in roster.read(path, folders=False)] == ["נועה", "陈伟"]
    with pytest.raises(UserError, match="line 2: 'נועה' cannot be a student's id; folders are named"):
        roster.read(path)
    path.write_text("id,name\na\u202eb,x\n", encoding="utf-8")
    with pytest.raises(UserError, match="printable"):
        roster.read(path, folders=False)


def test_lines_are_counted_as_an_editor_does(tmp_path: Path) -> None:
    path = tmp_path / "class.csv"
    path.write_text('id,name\na,"two\nlines"\n\nb,x\na,y\n')
    with pytest.raises(UserError, match="line 6: a is there twice; the other is in line 2"):
        roster.read(path)


def test_canvas(tmp_path: Path) -> None:
    """Points possible and Canvas's test student are nobody; the login is the id, or the number where one has none."""
    path = tmp_path / "class.csv"
    path.write_text(CANVAS, encoding="utf-8", newline="")
    jane, juergen, noa = roster.read(path)
    assert (jane.id, jane.canvas, jane.others, jane.first_name) == ("jdoe", "12345", ("jdoe", "S001"), "Jane")
    assert (juergen.last_name, noa.name) == ("Müller-Lüdenscheidt", "לוי, נועה")
    path.write_text(CANVAS.replace("jdoe", "").replace("S002", ""), encoding="utf-8", newline="")
    assert [one.id for one in roster.read(path)] == ["12345", "12346", "12347"]


def test_moodle(tmp_path: Path) -> None:
    path = tmp_path / "class.csv"
    path.write_text(MOODLE, encoding="utf-8", newline="")
    assert [(one.id, one.moodle, one.name) for one in roster.read(path)][::2] == [
        ("jane@x.edu", "123456", "Jane Doe"),
        ("noa@x.edu", "123458", "נועה לוי"),
    ]
    blind = "Identifier,Status,Grade\nParticipant 7,,\nParticipant 8,,\n"
    path.write_text(blind)
    assert [(one.id, one.moodle) for one in roster.read(path)] == [("7", "7"), ("8", "8")]


def test_what_two_files_know_is_put_together(tmp_path: Path) -> None:
    """A plain roster, and Canvas's file that knows numbers: nobody is there twice, and nobody joins who is not asked to."""
    path = tmp_path / "class.csv"
    path.write_text(CANVAS, encoding="utf-8", newline="")
    known = roster.merged({"a1": {"last_name": "Doe", "first_name": "Jane", "tag": "t"}}, roster.read(path), add=False)
    assert list(known) == ["a1"] and known["a1"]["canvas"] == "12345" and known["a1"]["tag"] == "t"
    assert list(roster.merged(known, roster.read(path))) == ["a1", "jmueller", "nlevi"]
