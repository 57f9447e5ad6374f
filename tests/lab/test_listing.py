"""A program is listed from its first statement on, and its lines keep their numbers."""

import pytest

from bugzoo import lab, programs
from bugzoo.scenario import Scenario
from bugzoo.syntax import source_lines


@pytest.mark.parametrize("program", programs.names())
def test_a_program_is_listed_from_its_code_on(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    case = Scenario(program)
    lab.lines(case)
    rows, whole = capsys.readouterr().out.splitlines(), source_lines(case.source)
    first = int(rows[0][:4])
    assert whole[first - 1].startswith(("import ", "from ")) and rows[0][6:] == whole[first - 1]
    assert [row[6:] for row in rows] == whole[first - 1 :] and int(rows[-1][:4]) == len(whole)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x = 1\ny = 2", "   1  x = 1\n   2  y = 2\n"),
        ('"""About."""\n\nx = 1', "   3  x = 1\n"),
        ('"""Two\nlines."""\nx = 1', "   3  x = 1\n"),
        ('"""Only this."""', '   1  """Only this."""\n'),
        ("x = (", "   1  x = (\n"),
        ("7\nx = 1", "   1  7\n   2  x = 1\n"),
        ("", ""),
    ],
)
def test_other_texts(text: str, wanted: str, capsys: pytest.CaptureFixture[str]) -> None:
    lab.lines(text)
    assert capsys.readouterr().out == wanted
