"""Texts of other people: nothing in them moves a cursor, sets a color, opens a link, or is computed by a spreadsheet."""

import json
from pathlib import Path

import pytest

from bugzoo.cli import output
from bugzoo.printable import csv_cell, printable, printable_in
from tests.cli.conftest import bugzoo  # noqa: F401


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J\x1b[31mPASSED\x1b[0m", "PASSED"),
        ("\x1b]8;;http://evil\x07click\x1b]8;;\x07", "click"),
        ("\x1b]0;title\x1b\\rest", "rest"),
        ("\x9b31mred \x9d0;title\x9crest", "red rest"),
        ("\x1bP1;2|payload\x1b\\rest", "rest"),
        ("\x1bcreset \x1b(B", "reset "),
        ("a\rb\r\nc\td\x00\x07\x08\x7f", "a\nb\nc\td"),
        ("ada\u202eben\u2066\ud83d", "adaben"),
        ("zoë Öz 李 🙂 [bold]x[/bold] 100 %", "zoë Öz 李 🙂 [bold]x[/bold] 100 %"),
        ("ends in \x1b", "ends in "),
        ("\x1b]never ended", ""),
    ],
)
def test_printable(text: str, shown: str) -> None:
    assert printable(text) == shown == printable(printable(text))


def test_everything_in_a_record() -> None:
    assert printable_in({"\x07a": ["\x1b[1mb", 1.5, None, True, ("c\x00",)]}) == {"a": ["b", 1.5, None, True, ["c"]]}


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=1+1", "'=1+1"), ("+49 170", "'+49 170"), ("-x", "'-x"), ("@a", "'@a"), ("\t=1", "'=1"), ("\r=1", "'=1"),
        (-1.5, "-1.5"), ("+2", "+2"), ("-1e-3", "-1e-3"), ("-.5", "-.5"), ("-1\n=2", "'-1 =2"), ("a=b", "a=b"), ("", ""),
        ("\x1b[31m=1", "'=1"), ("-inf", "'-inf"), ("two\nlines\there", "two lines here"),
    ],
)  # fmt: skip
def test_csv_cell(value: object, cell: str) -> None:
    assert csv_cell(value) == cell


@pytest.mark.parametrize("columns", ["200", "30"])
def test_tables_and_json_reach_a_terminal_without_control_characters(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    evil = "\x1b[2Jwhy \x9b31m\x07not"
    output.table(["student", "state", "why"], [["ada", "your code raised", evil]], "week\x1b[5m")
    output.emit({"message": evil}, "-")
    printed = capsys.readouterr().out
    assert not [character for character in printed if not character.isprintable() and character != "\n"]
    assert "why not" in " ".join(printed.split())


def test_a_message_on_stderr_has_no_control_characters(bugzoo, tmp_path: Path) -> None:  # noqa: F811
    called = bugzoo("grade", str(tmp_path / "\x1b[2Jnone"), "--assignment", "04")
    assert called.code == 2 and "none is not a folder" in called.err and "\x1b" not in called.err


def test_json_in_a_file_is_still_json(tmp_path: Path) -> None:
    output.emit({"message": "\x1b[1mö"}, str(tmp_path / "out.json"))
    assert json.loads((tmp_path / "out.json").read_text())["message"].endswith("ö")
