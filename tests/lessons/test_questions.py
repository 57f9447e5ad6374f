"""Questions in a lesson's file: what each kind is read as, and what is said of one that is not well formed."""

from pathlib import Path

import pytest

from bugzoo.course.book import notebook
from bugzoo.course.drawings import Axis
from bugzoo.course.questions import Choices, Match, Near, Number, Order
from bugzoo.course.source import Lesson, read
from bugzoo.errors import UserError
from bugzoo.proving.lesson_proof import read_through, run

SMALL = """
# %% [markdown] title
# # 07 · Small

# %% setup
from bugzoo import lab

# %% [predict] first_loss
# Two classes. What is
# the first loss?
#
# (=) {0.693 = ln2} +- 0.02
#     ln 2: each class
#     gets half.
# (~) 0.5 +- 0.03
#     Half is the probability.
# (~) 1
#     One bit.
# (~) else
#     Take the logarithm.

# %% [check] classes
# Which belongs to which, as in f -> g?
#
# {0.693 = ln2} -> 2 classes
# ln 10 -> 10 classes
#     exp(loss) is
#     the number.

# %% [check] parts
# In which order?
#
# 1) forward
# 2) backward -> gradients
# 3) step
#     A step needs gradients.

# %% [draw] one_batch
# Draw the loss
# on this batch: all of it.
#
# step: 1, 60, 200
# loss (nats): 0.0001 to 1, log

# %% result
first_loss.reveal()
one_batch.reveal([1, 60, 200], [0.7, 0.1, 0.01])

# %% [proof]
import math

ln2 = math.log(2)
"""


def changed(folder: Path, *changes: tuple[str, str]) -> Path:
    text = SMALL
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    (folder / "07_small.py").write_text(text, encoding="utf-8")
    return folder / "07_small.py"


@pytest.fixture
def lesson(tmp_path: Path) -> Lesson:
    return read(changed(tmp_path))


def test_each_kind_is_read(lesson: Lesson) -> None:
    assert lesson.questions == {
        "first_loss": Number(
            "Two classes. What is the first loss?",
            Near("0.693", 0.693, 0.02, "ln 2: each class gets half."),
            (Near("0.5", 0.5, 0.03, "Half is the probability."), Near("1", 1.0, 0.0, "One bit.")),
            "Take the logarithm.",
        ),
        "classes": Match(
            "Which belongs to which, as in f -> g?",
            (("0.693", "2 classes"), ("ln 10", "10 classes")),
            "exp(loss) is the number.",
        ),
        "parts": Order("In which order?", ("forward", "backward -> gradients", "step"), "A step needs gradients."),
    }
    drawing = lesson.drawing("one_batch")
    assert (drawing.text, drawing.points) == ("Draw the loss on this batch: all of it.", (1, 60, 200))
    assert (drawing.x, drawing.y) == (Axis("step", 1, 200, False), Axis("loss (nats)", 0.0001, 1, True))


def test_the_borders_of_a_tolerance_belong_to_it() -> None:
    near = Near("0.693", 0.693, 0.02, "")
    assert near.fits(0.713) and near.fits(0.673) and not near.fits(0.7131) and not near.fits(0.6729)
    assert Near("0.1", 0.1, 0, "").fits(0.1) and not Near("0.1", 0.1, 0, "").fits(0.1001)


def test_what_the_learner_gets(lesson: Lesson) -> None:
    cells = {cell.id: cell.source for cell in notebook(lesson).cells}
    assert cells["first-loss"] == 'first_loss = lab.predict("07/first_loss")'
    assert cells["classes"] == 'classes = lab.quick_check("07/classes")'
    assert cells["parts"] == 'parts = lab.quick_check("07/parts")'
    assert cells["one-batch"] == 'one_batch = lab.draw("07/one_batch")'
    assert "0.5" not in str(cells) and "forward" not in str(cells)


def test_a_right_number_needs_a_proof_and_a_setting_does_not(tmp_path: Path, lesson: Lesson) -> None:
    assert read_through(lesson) == []
    bare = read_through(read(changed(tmp_path, ("(=) {0.693 = ln2}", "(=) 0.693"))))
    assert len(bare) == 1 and "(first_loss): 0.693 has no proof" in bare[0]
    late = read_through(read(changed(tmp_path, ("one_batch.reveal([1, 60, 200], [0.7, 0.1, 0.01])", "pass"))))
    assert len(late) == 1 and "no later cell has one_batch.reveal()" in late[0]
    text = read_through(read(changed(tmp_path, ("on this batch: all", "on this batch of 0.25: all"))))
    assert len(text) == 1 and "(one_batch): 0.25 has no proof" in text[0]


@pytest.mark.slow
def test_a_lesson_with_all_kinds_is_proved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = changed(tmp_path)
    start = f"from pathlib import Path\nfrom bugzoo import course, lab\ncourse.PLACE = Path({str(tmp_path)!r})"
    path.write_text(path.read_text().replace("from bugzoo import lab", start))
    assert run(read(path))[:2] == ([], {"ln2": pytest.approx(0.6931, abs=1e-4)})


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("(~) 0.5", "(=) 0.5", r"line 8 \(first_loss\): .* exactly one \(=\), this one has 2"),
        ("(=) {0.693 = ln2} +- 0.02", "(~) 0.4", r"exactly one \(=\), this one has 0"),
        ("(~) else\n#     Take the logarithm.\n", "\n", r"the last answer must be `\(~\) else`"),
        ("(~) 0.5 +- 0.03", "(~) else", r"the last answer must be `\(~\) else`"),
        ("(~) else", "(=) else", "the last answer must be"),
        ("(~) 0.5 +- 0.03", "(~) half +- 0.03", r"'\(~\) half \+- 0.03' is not a number. Write `\(=\) 0.693 \+- 0.02`"),
        ("(~) 0.5 +- 0.03", "(~) 30,000", "is not a number"),
        ("(~) 0.5 +- 0.03", "(~) 0.5 +- -0.03", "tolerance after .- is at least 0"),
        ("(~) 0.5 +- 0.03", "(~) 0.7", r"nothing reaches \(~\) 0.7, as 0.693 accepts it first"),
        ("(~) 1\n", "(~) 0.52\n", r"nothing reaches \(~\) 0.52, as 0.5 accepts it first"),
        ("#     One bit.\n", "", r"'\(~\) 1' has no explanation"),
        ("# (~) 1\n", "# ( ) One\n", r"either answers with \( \) and \(x\), or numbers"),
        ("# Two classes. What is\n# the first loss?\n", "#\n", "needs a text"),
        ("# ln 10 -> 10 classes", "# ln 10 is 10", r"line 22 \(classes\): 'ln 10 is 10' is not of the form `left -> right`"),
        ("# Which belongs to which, as in f -> g?\n", "", "needs a text before the first line"),
        ("# In which order?\n#\n", "# In which order?\n", "end the text with an empty line"),
        ("#     exp(loss) is\n#     the number.\n", "", "needs an explanation, indented after the last line"),
        ("# ln 10 -> 10", "#     too early\n# ln 10 -> 10", "the explanation below .* belongs after the last line"),
        ("ln 10 -> 10 classes", "ln 10 -> 2 classes", "not all equal on the right"),
        ("ln 10 -> 10", "0.693 -> 10", "different on the left"),
        ("# 1) forward\n# 2)", "# 2) forward\n# 3)", r"line 30 \(parts\): .* numbered 1\), 2\), .* these are 2, 3, 3"),
        ("# {0.693 = ln2} -> 2 classes\n# ln 10 -> 10 classes", "# ln 10", "this is no kind of question. Write"),
        ("# 3) step\n", "", "three or more different lines"),
        ("# 3) step", "# 3) forward", "three or more different lines"),
        ("# 3) step", "# step", "'step' is not of the form `1. text`"),
        ("[check] parts", "[predict] parts", r"Write `# %% \[check\]` to match or to order"),
        ("[check] classes", "[predict] classes", r"Write `# %% \[check\]` to match or to order"),
        ("# step: 1, 60, 200\n", "", r"line 38 \(one_batch\): a drawing needs a text and two axes"),
        ("# loss (nats): 0.0001 to 1, log", "#", "two axes"),
        ("# loss (nats): 0.0001 to 1, log", "# loss (nats): 0.0001", "two axes"),
        ("# Draw the loss\n# on this batch: all of it.\n", "", "needs a text"),
        ("1, 60, 200", "1, 200, 60", r"must rise, these are 1, 200, 60"),
        ("1, 60, 200", "1, 1, 60", "the three points of the x-axis must rise"),
        ("1, 60, 200", "1, 9, 60, 60, 200", "the five points of the x-axis must rise, these are 1, 9, 60, 60, 200"),
        ("1, 60, 200", "1, 200", r"\(one_batch\): a drawing has 3 to 5 points on the x-axis, this one has 2"),
        ("1, 60, 200", "1, 9, 30, 60, 90, 200", "this one has 6"),
        ("1, 60, 200", "0, 60, 200, log", "a logarithmic axis has no 0. Begin step above 0"),
        ("0.0001 to 1, log", "1 to 0.0001, log", r"the axis loss \(nats\) goes from 1 to 0.0001. It must rise"),
        ("0.0001 to 1, log", "1 to 1", "It must rise"),
        ("0.0001 to 1, log", "0 to 1, log", "a logarithmic axis has no 0"),
        ("0.0001 to 1, log", "0 to 1e999", "It must rise|finite"),
    ],
)  # fmt: skip
def test_mistakes_name_the_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as caught:
        read(changed(tmp_path, (old, new)))
    assert str(caught.value).startswith("07_small.py, line ")


def test_at_most_eight_lines(tmp_path: Path) -> None:
    many = "".join(f"# {place}) part {place}\n" for place in range(3, 10))
    with pytest.raises(UserError, match="at most 8 lines, this one has 9"):
        read(changed(tmp_path, ("# 3) step\n", many)))
    answers = "".join(f"# ( ) {place}\n#     no.\n" for place in range(8)) + "# (x) yes\n#     yes.\n"
    path = tmp_path / "07_small.py"
    path.write_text(f"# %% [check] many\n# Which?\n#\n{answers}")
    with pytest.raises(UserError, match="at most 8 answers, this one has 9"):
        read(path)


def test_answers_may_hold_arrows_and_numbers(tmp_path: Path) -> None:
    path = tmp_path / "07_small.py"
    path.write_text("# %% [check] arrow\n# Is a -> b?\n#\n# ( ) 1) no -> yes\n#     no.\n# (x) yes\n#     1) so.\n")
    assert read(path).questions["arrow"] == Choices(
        "Is a -> b?", (("1) no -> yes", "no.", False), ("yes", "1) so.", True))
    )
