"""Names of files are bytes, and a class's table has to be written all the same."""

import csv
import io
import json
import os
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

from bugzoo.grading.model import Result
from bugzoo.instructor import classroom, gradebook, tasks
from bugzoo.instructor.submission import find, read, shown
from tests.instructor.class_of import cell, hand_in

NAME = "04_flat_loss"
STRANGE = {b"caf\xe9": "caf\\xe9", b"bell\x07": "bell\\x07", b"two\nlines": "two\\nlines", "zoë".encode(): "zoë"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One folder and one file of each name."""
    notebook, place = tasks.load(NAME).original(), tmp_path / "submitted"
    for name in STRANGE:
        hand_in(place, os.fsdecode(name), notebook, NAME)
        (place / os.fsdecode(b"file-" + name + b".ipynb")).write_text(json.dumps(notebook))
    hand_in(place, "ada", notebook, NAME)
    return place


@pytest.mark.parametrize("name", STRANGE)
def test_what_is_no_text_is_escaped(name: bytes) -> None:
    assert shown(os.fsdecode(name)) == STRANGE[name]


def test_a_class_with_strange_names_has_a_whole_table(folder: Path, tmp_path: Path, monkeypatch) -> None:
    """Graded, kept, and written to everything that a table goes to; a second call finds all of it again."""
    graded = []

    def repair(self, owner, source, records, strict, draw):
        graded.append(owner)
        return Result("wrong", message=f"of {owner}")

    monkeypatch.setattr(tasks.ExerciseTask, "repair", repair)
    monkeypatch.setattr(classroom.diagnosis_cell, "check_sandbox", lambda: None)
    names = {"ada", *STRANGE.values(), *(f"file-{name}" for name in STRANGE.values())}
    for _ in range(2):
        records = classroom.grade_class(folder, tasks.load(NAME), tmp_path / "kept")
        assert {record.student for record in records} == names and len(graded) == len(names)
    assert {record.state for record in records} == {"wrong"}
    text = gradebook.nbgrader(records, NAME, {})
    assert {row["student_id"] for row in csv.DictReader(io.StringIO(text))} == names
    text.encode(), json.dumps([vars(record) for record in records], ensure_ascii=False).encode()
    table = Table("student", "file")
    for record in records:
        table.add_row(record.student, record.file)
    with io.TextIOWrapper(io.BytesIO(), encoding="utf-8") as file:
        Console(file=file, width=400).print(table)


def test_half_an_emoji_in_a_notebook_is_said(tmp_path: Path) -> None:
    original = tasks.load(NAME).original()
    notebook = json.loads(json.dumps(original))
    cell(notebook, "program-training")["source"] = ["%%program Training\n", "# \ud83d\n"]
    hand_in(tmp_path, "ada", notebook, NAME)
    handed_in = read(find(tmp_path, NAME)[0], original)
    assert "lone surrogates" in handed_in.problem and handed_in.digest
