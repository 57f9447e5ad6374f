"""What students hand in, in every shape: read as data, with a reason where it cannot be graded."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from bugzoo.grading.program import SECTIONS, join
from bugzoo.instructor import Assignment, handout, key
from bugzoo.instructor.diagnosis_cell import ANSWER
from bugzoo.instructor.submission import MOST_BYTES, Submission, find, once_each, read
from tests.instructor.class_of import cell, hand_in

NAME = "week_3"


@pytest.fixture(scope="module")
def text(draft: Assignment) -> str:
    return handout.build(draft, "student", key.answers(draft))


def look(folder: Path, text: str, made: dict[str, Any] | str | bytes, student: str = "ada") -> Submission:
    path = hand_in(folder, student, made if isinstance(made, str | dict) else "", NAME)
    if isinstance(made, bytes):
        path.write_bytes(made)
    return read(find(folder, NAME)[0], json.loads(text))


def test_as_handed_out(tmp_path: Path, text: str, draft: Assignment) -> None:
    handed_in = look(tmp_path, text, text)
    assert (handed_in.problem, handed_in.notes, handed_in.student) == ("", (), "ada")
    assert join(handed_in.sections) == draft.source and handed_in.answer == ANSWER and handed_in.forms == ()
    assert len(handed_in.digest) == 64 and handed_in.timestamp.startswith("20")


BROKEN = {
    "no JSON": (lambda text: text[:-200], "not valid JSON"),
    "empty": (lambda text: "", "not valid JSON"),
    "bytes": (lambda text: b"\xff\xfe\x00PK", "not valid JSON"),
    "a list": (lambda text: "[1, 2]", "it has no cells"),
    "format 3": (lambda text: '{"worksheets": []}', "it has no cells"),
    "deep": (lambda text: "[" * 100_000, "not valid JSON"),
    "no cell": (lambda text: '{"cells": []}', "'diagnosis-answer' is missing"),
    "cells of nothing": (lambda text: '{"cells": [1, null, "x", {"metadata": 3}]}', "'diagnosis-answer' is missing"),
    "too large": (lambda text: text + " " * MOST_BYTES, "MiB"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_unreadable(tmp_path: Path, text: str, name: str) -> None:
    spoil, word = BROKEN[name]
    handed_in = look(tmp_path, text, spoil(text))
    assert word in handed_in.problem and not handed_in.sections


def changed(text: str, edit: Any) -> dict[str, Any]:
    notebook = json.loads(text)
    edit(notebook)
    return notebook


def without(name: str) -> Any:
    return lambda made: made.update(cells=[entry for entry in made["cells"] if entry["id"] != name])


def test_grader_cells_do_not_matter(tmp_path: Path, text: str) -> None:
    """Edited, missing or doubled: the score does not come from them."""

    def edited(made: dict[str, Any]) -> None:
        cell(made, "repair")["source"] = ["7.0"]

    def doubled(made: dict[str, Any]) -> None:
        made["cells"].append(cell(made, "diagnosis"))

    for number, (edit, note) in enumerate(
        [(edited, "'repair' was changed"), (without("repair"), "'repair' is missing"), (doubled, "2 cells are marked")]
    ):
        handed_in = look(tmp_path / str(number), text, changed(text, edit))
        assert handed_in.problem == "" and len(handed_in.notes) == 1 and note in handed_in.notes[0]
        assert "does not count" in handed_in.notes[0]


def test_cells_that_do(tmp_path: Path, text: str) -> None:
    def doubled(made: dict[str, Any]) -> None:
        made["cells"].append(cell(made, "diagnosis-answer"))

    def two_trainings(made: dict[str, Any]) -> None:
        other = json.loads(json.dumps(cell(made, "program-training")))
        other["source"] = [*other["source"], "\nstep = 0\n"]
        made["cells"].append(other)

    for number, (edit, message) in enumerate(
        [
            (without("diagnosis-answer"), "is missing; copy it"),
            (doubled, "keep one of them"),
            (without("program-model"), "no cell begins with `%%program Model`"),
            (two_trainings, "two cells begin with `%%program Training`"),
        ]
    ):
        handed_in = look(tmp_path / str(number), text, changed(text, edit))
        assert message in handed_in.problem and handed_in.digest


def test_out_of_order(tmp_path: Path, text: str) -> None:
    handed_in = look(tmp_path, text, changed(text, lambda made: made["cells"].reverse()))
    assert list(handed_in.sections) == list(SECTIONS)
    assert handed_in.problem == "" and "out of order" in handed_in.notes[0]


def test_another_assignment(tmp_path: Path, text: str) -> None:
    notebook = changed(text, lambda made: made["metadata"]["bugzoo"].update(assignment="week_4"))
    assert "another assignment ('week_4', 'week_3' was expected)" in look(tmp_path, text, notebook).problem


@pytest.mark.parametrize("grade_id", [["repair"], {"a": 1}, None, 7])
def test_strange_metadata(tmp_path: Path, text: str, grade_id: Any) -> None:
    """Malformed metadata of one file never ends the grading of a class."""

    def spoil(made: dict[str, Any]) -> None:
        cell(made, "repair")["metadata"]["nbgrader"]["grade_id"] = grade_id
        made["metadata"]["bugzoo"] = {"variant": [1]}

    handed_in = look(tmp_path, text, changed(text, spoil))
    assert handed_in.problem == "" and "'repair' is missing" in handed_in.notes[0]


def test_whose(tmp_path: Path, text: str) -> None:
    """nbgrader's layout, a folder with one notebook, files side by side; who handed in nothing or too much is named."""
    hand_in(tmp_path, "ada", text, NAME)
    for path in (*"ben/any.ipynb cem.ipynb dot/a.ipynb dot/b.ipynb eve/notes.txt fay.ipynb fay/x.ipynb".split(),
                 *"gus/a/week_3.ipynb gus/.ipynb_checkpoints/week_3-copy.ipynb .hidden.ipynb readme.md".split()):  # fmt: skip
        (tmp_path / path).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / path).write_text(text)
    os.symlink(tmp_path / "cem.ipynb", tmp_path / "hal.ipynb")
    submissions = {handed_in.student: handed_in for handed_in in once_each(find(tmp_path, NAME))}
    assert list(submissions) == ["ada", "ben", "cem", "dot", "eve", "fay", "gus", "hal"]
    assert {name for name, handed_in in submissions.items() if not handed_in.problem} == {"ada", "ben", "cem", "gus"}
    for name, word in {
        "dot": "several",
        "eve": "no notebook",
        "fay": "keep the one that counts",
        "hal": "link",
    }.items():
        assert word in submissions[name].problem


def test_no_plain_file(tmp_path: Path, text: str) -> None:
    os.mkfifo(tmp_path / "ada.ipynb")
    assert "not a regular file" in read(find(tmp_path, NAME)[0], json.loads(text)).problem


def test_when(tmp_path: Path, text: str) -> None:
    """nbgrader's timestamp, when it is one."""
    path = hand_in(tmp_path, "ada", text, NAME)
    path.with_name("timestamp.txt").write_text("2026-11-21 10:45:51.123456 UTC\n")
    assert read(find(tmp_path, NAME)[0], json.loads(text)).timestamp == "2026-11-21 10:45:51.123456 UTC"
    path.with_name("timestamp.txt").write_text("=cmd|'/c calc'!A1\n")
    assert read(find(tmp_path, NAME)[0], json.loads(text)).timestamp == ""


def test_a_program_of_several_ranks_comes_back_whole(tmp_path: Path) -> None:
    """Its Ranks are a cell like the others, in whatever order the cells stand; its number of processes comes with its text."""
    draft = Assignment("data_parallel", ("loop/stale_gradients",), title="Week 3")
    text = handout.build(draft, "student", key.answers(draft))
    notebook = json.loads(text)
    assert "ranks=2" in "".join(cell(notebook, "program-text")["source"])
    assert "".join(cell(notebook, "program-ranks")["source"]).startswith("%%program Ranks after Settings\n")
    handed_in = look(tmp_path / "1", text, text)
    assert (handed_in.problem, handed_in.notes) == ("", ()) and join(handed_in.sections) == draft.source
    other = look(tmp_path / "2", text, changed(text, lambda made: made["cells"].reverse()))
    assert join(other.sections) == draft.source and "out of order" in other.notes[0]
    without = changed(text, lambda made: made["cells"].remove(cell(made, "program-ranks")))
    assert "no cell begins with `%%program Ranks`" in look(tmp_path / "3", text, without).problem
