"""What a lesson names has today's name: marks are filled in, missing things are errors, and nothing is typed by hand."""

import re
from pathlib import Path

import pytest

from bugzoo import course, faults, views
from bugzoo.course.marks import fill
from bugzoo.course.source import read
from bugzoo.errors import UserError
from bugzoo.grading.exercises import exercises, load

LESSONS = course.PLACE
LABELS = {label for name in views.names() for row in views.rows(name) if len((label := row.label).split()) > 2}


@pytest.mark.parametrize(
    ("mark", "name"),
    [
        ("{label = one_batch.overfit_one_batch.best_loss}", "lowest loss on the batch"),
        ("{label = one_batch.best_loss}", "lowest loss on the batch"),
        ("{view = outputs}", "outputs"),
        ("{cause = loss/double_softmax}", "Softmax before cross-entropy"),
        ("{exercise = 16}", "[exercise 16](../exercises/16_another_size.ipynb)"),
        ("{lesson = 03}", "[lesson 03](03_hunting_nan.ipynb)"),
        ("{lesson = 00}", "[map](00_start_here.ipynb)"),
        ("{1.38 = loss} and {x}", "{1.38 = loss} and {x}"),
    ],
)
def test_a_mark_is_filled_in(mark: str, name: str) -> None:
    assert fill(f"The {mark}.", "here", LESSONS) == f"The {name}."


@pytest.mark.parametrize(
    ("mark", "said"),
    [
        ("{label = one_batch.best_los}", "There is no row of the view one_batch named 'best_los'."),
        ("{label = one_bach.best_loss}", "There is no view named 'one_bach'. Did you mean one_batch"),
        ("{label = loss_curve.loss}", "There is no row of the view loss_curve named 'loss'"),
        (
            "{label = outputs.row_sum}",
            "2 such rows. Write one of double_normalisation.row_sum, output_gradient.row_sum.",
        ),
        ("{view = output}", "Did you mean outputs"),
        ("{cause = loss/dobule_softmax}", "Did you mean loss/double_softmax"),
        ("{exercise = 99}", "There is no exercise named '99'"),
        ("{lesson = 99}", "There is no lesson named '99'"),
    ],
)
def test_what_is_missing_is_told_with_its_place(tmp_path: Path, mark: str, said: str) -> None:
    file = tmp_path / "07_small.py"
    file.write_text(f"# %% [markdown] title\n# # 07 · Small\n\n# %% numbers\nlooks = {{}}['{mark}']\n")
    with pytest.raises(UserError) as caught:
        read(file)
    assert str(caught.value).startswith(f"07_small.py, line 4 (numbers): {mark}: ") and said in str(caught.value)


def typed(text: str) -> list[str]:
    """Return the names in a text that are no marks: labels of rows, numbers of lessons and exercises."""
    flat = " ".join(re.sub(r"(?m)^#+ ?", "", re.sub(r"\{\w+ = [\w./:]+\}", "", text)).split())
    labels = [label for label in LABELS if label.lower() in flat.lower()]
    return labels + re.findall(r"(?i)\b(?:lesson|exercise)s? \d\d\b|exercises/\d\d_\w+|\b\d\d_\w+\.ipynb", flat)


def test_a_typed_name_is_found() -> None:
    assert typed("# *Lowest loss on\n# the batch* is 0.3") == ["lowest loss on the batch"]
    assert typed("# as in lesson 02, and\n# [exercise\n# 16](../exercises/16_thirty.ipynb)") == [
        "lesson 02",
        "exercise 16",
        "exercises/16_thirty",
    ]
    assert typed("{label = one_batch.best_loss}, {exercise = 16}, {lesson = 03}") == []


@pytest.mark.parametrize("name", course.files())
def test_no_lesson_types_a_name(name: str) -> None:
    cells = (LESSONS / f"{name}.py").read_text(encoding="utf-8").partition("\n# %%")[2]
    assert typed(cells) == []


def test_no_hint_and_no_ticket_names_a_row_a_lesson_or_an_exercise() -> None:
    """They have no marks, so they may quote none."""
    texts = {fault.id: "\n".join(fault.hints) for fault in faults.catalogue().values()}
    for name in exercises():
        texts[name] = "\n".join([load(name).story, *(ticket.story for ticket in load(name).tickets)])
    quoted = [
        (name, label)
        for name, text in texts.items()
        for label in LABELS
        if re.search(rf'["*`]{re.escape(label)}["*`]', text)
    ]
    numbers = [
        (name, matches)
        for name, text in texts.items()
        if (matches := re.findall(r"(?i)(?:lesson|exercise) \d\d", text))
    ]
    assert quoted == numbers == []
