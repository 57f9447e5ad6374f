"""A lesson's file: what each kind of cell becomes, and what is said of one that is not well formed."""

from pathlib import Path

import nbformat
import pytest

from bugzoo.course import load
from bugzoo.course.book import notebook
from bugzoo.course.source import Lesson, read
from bugzoo.errors import UserError

SMALL = '''"""For whoever reads the source."""

# %% [case] incident
# mlp numerics/log_at_step?step=50&eps=0 loop/stale_gradients

# %% [markdown] title
# # 07 · Small
#
# The loss is {1.38 = loss} here.
# %% setup tags=["raises-exception"]
# %matplotlib inline
import math


def area(radius):
    return math.pi * radius**2  # a comment stays


# %% [check] first_guess
# What will
# you see, {about 3.1 = area_one} or less?
#
# ( ) Less
#     it is
#     more.
# (x) More
#     yes.

# %% [proof]
area_one, loss = area(1), 1.379
'''


@pytest.fixture
def lesson(tmp_path: Path) -> Lesson:
    (tmp_path / "07_small.py").write_text(SMALL, encoding="utf-8")
    return read(tmp_path / "07_small.py")


def test_what_the_learner_gets(lesson: Lesson) -> None:
    book = notebook(lesson)
    nbformat.validate(book)
    assert [(cell.id, cell.cell_type, cell.source) for cell in book.cells] == [
        ("title", "markdown", "# 07 · Small\n\nThe loss is 1.38 here."),
        (
            "setup",
            "code",
            "%matplotlib inline\nimport math\n\n\ndef area(radius):\n    return math.pi * radius**2  # a comment stays",
        ),
        ("first-guess", "code", 'first_guess = lab.quick_check("07/first_guess")'),
    ]
    assert book.cells[1].metadata.tags == ["raises-exception"]
    assert [cell.id for cell in notebook(lesson, proofs=True).cells][-1] == "proof-4"
    assert notebook(lesson) == notebook(read(lesson.file)), "the same each time"


def test_question_case_and_claims(lesson: Lesson) -> None:
    question = lesson.question("first_guess")
    assert question.text == "What will you see, about 3.1 or less?"
    assert question.answers == (("Less", "it is more.", False), ("More", "yes.", True))
    assert lesson.case("incident") == ("mlp", ("numerics/log_at_step?step=50&eps=0", "loop/stale_gradients"))
    assert [(claim.shown, claim.name) for claim in lesson.claims] == [("1.38", "loss"), ("about 3.1", "area_one")]
    assert "07_small.py, line 6 (title)" in lesson.claims[0].where
    assert (lesson.number, lesson.title) == ("07", "07 · Small")
    with pytest.raises(UserError, match=r"no question named '07/frist_guess'. Did you mean 07/first_guess"):
        lesson.question("frist_guess")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "[markdown] title",
            "[markdwon] title",
            r"line 6: there is no kind \[markdwon\]\. The kinds are markdown, folded, code",
        ),
        ("[markdown] title", "[markdown]", r"line 6: the cell needs a name: # %% \[markdown\] what-it-is"),
        ("[markdown] title", "title [markdown]", "line 6: .* is not a cell marker"),
        ("setup tags", "title tags", "line 10: there is already a cell named title"),
        ("# The loss", "The loss", "line 9: text of a .markdown. cell must begin with `# `: 'The loss"),
        ("# (x) More", "# ( ) More", r"line 19 \(first_guess\): .* exactly one \(x\)"),
        ("#     yes.", "#", "'More' has no explanation"),
    ],
)
def test_mistakes_name_the_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in SMALL
    (tmp_path / "07_small.py").write_text(SMALL.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UserError, match=said):
        read(tmp_path / "07_small.py")


def test_a_file_without_a_cell_says_how_one_begins(tmp_path: Path) -> None:
    (tmp_path / "44_empty.py").write_text("x = 1\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"44_empty.py has no cells. Begin each with a line like `# %% \[markdown\]"):
        read(tmp_path / "44_empty.py")


@pytest.mark.parametrize("name", ["03", "3", "03_hunting_nan"])
def test_a_lesson_is_found_by_name_and_number(name: str) -> None:
    assert load(name).file.stem == "03_hunting_nan"


@pytest.mark.parametrize("name", ["99", "03_huntng_nan", "", "../03", "_source"])
def test_an_unknown_lesson(name: str) -> None:
    with pytest.raises(UserError, match="There is no lesson named") as caught:
        load(name)
    assert "`bugzoo lessons list`" in str(caught.value)
