"""The size of a lesson: what is counted, and that a longer one is refused."""

import pytest

from bugzoo import course
from bugzoo.course.budget import code_lines, over, size
from bugzoo.course.source import read

SETUP = """# %% [markdown] title
# # 90 · Small

# %% setup
import torch

# a comment
x = 1

# %% [check] bits
# How many?
#
# (=) 1
#     one.
# (~) else
#     one.

# %% [proof] hidden
y = 1

# %% [folded] appendix
# More
#
# text
"""


def lesson(tmp_path, more=""):
    file = tmp_path / "90_small.py"
    file.write_text(SETUP + more)
    return read(file)


def test_what_is_counted(tmp_path):
    small = lesson(tmp_path)
    assert size(small)[1:] == (2, 3, 0)  # two lines of code and one question; proofs, comments and blanks do not count
    assert over(small) == []


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ("# %% long\n" + "x = 1\n" * 13, "13 lines of code in one open cell"),
        ("".join(f"# %% cell-{number}\nx = 1\n" for number in range(30)), "32 open cells of code"),
        ("".join(f"# %% cell-{number}\n" + "x = 1\n" * 12 for number in range(10)), "123 lines of code"),
        ("# %% [markdown] words\n# " + "word " * 6200 + "\n", "minutes, and at most 40"),
    ],
)
def test_more_is_refused_with_the_number(tmp_path, more, reason):
    problems = over(lesson(tmp_path, more))
    assert len(problems) == 1 and reason in problems[0], problems


def test_an_appendix_costs_no_minutes(tmp_path):
    short = lesson(tmp_path).minutes
    assert lesson(tmp_path, "").minutes == short
    (tmp_path / "90_small.py").write_text(SETUP.replace("# text", "# " + "text " * 3000))
    assert read(tmp_path / "90_small.py").minutes == short


def test_a_question_is_one_line_whatever_it_asks():
    questions = course.load("03").of("check")
    assert questions and {code_lines(cell) for cell in questions} == {1}
