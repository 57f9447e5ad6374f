"""The notebooks in git are what their declarations make, and nothing else lies beside them."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.nbgraderformat import MetadataValidator

from bugzoo import diagnostics, views
from bugzoo.diagnostics import tools
from bugzoo.grading import files
from bugzoo.grading.exercises import exercises, with_program
from bugzoo.grading.notebook import KINDS, build
from bugzoo.grading.workbench import Program

ROOT = Path(__file__).resolve().parents[2]


def test_committed_are_built_ones() -> None:
    assert files.stray(ROOT) == []


@pytest.mark.slow
def test_a_changed_a_missing_and_a_spare_notebook_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notebooks = files.texts()
    monkeypatch.setattr(files, "texts", lambda: notebooks)  # not made five times
    assert len(files.build(tmp_path)) == 2 * len(exercises())
    assert files.build(tmp_path) == files.stray(tmp_path) == []
    first, second = (tmp_path / f"exercises/{name}.ipynb" for name in list(exercises())[:2])
    first.write_text(first.read_text().replace("## Hints", "## Help"))
    second.unlink()
    (tmp_path / "solutions/by_hand.ipynb").write_text("{}")
    report = "\n".join(files.stray(tmp_path))
    assert len(report.splitlines()) == 3
    assert f"{first.stem}.ipynb differs from" in report and f"{second.stem}.ipynb is missing" in report
    assert "solutions/by_hand.ipynb has no declaration" in report
    assert files.build(tmp_path) == [f"exercises/{first.name}", f"exercises/{second.name}"]


@pytest.mark.parametrize("name", list(exercises()))
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_a_valid_notebook(name: str, kind: str) -> None:
    notebook = nbformat.reads(build(load := exercises()[name], kind), as_version=4)
    nbformat.validate(notebook)
    MetadataValidator().validate_nb(notebook)
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)
    assert not any(cell.outputs or cell.execution_count for cell in notebook.cells if cell.cell_type == "code")
    graded = {
        cell.id: cell.metadata.nbgrader.points
        for cell in notebook.cells
        if "points" in cell.metadata.get("nbgrader", {})
    }
    points = dict(zip(("repair", "diagnosis"), load.points, strict=True))
    assert graded == ({part: most for part, most in points.items() if most}), "no cell for what is not asked"
    assert sum(graded.values()) == (10.0 * len(load.faults)), "two findings are twice the work"


def test_built_notebooks_are_clean_code(tmp_path: Path) -> None:
    files.build(tmp_path)
    config = ["--config", str(ROOT / "pyproject.toml"), "--no-cache"]
    for command in (["check", *config], ["format", "--check", *config]):
        process = subprocess.run(
            [sys.executable, "-m", "ruff", *command, str(tmp_path)], capture_output=True, text=True
        )
        assert process.returncode == 0, process.stdout[-1500:]


def test_student_version_differs_from_the_solution_only_where_something_is_asked() -> None:
    for exercise in exercises().values():
        books = [json.loads(build(exercise, kind))["cells"] for kind in ("student", "solution")]
        changed = {cell["id"] for cell, other in zip(*books, strict=True) if cell != other}
        programs = {name for name in changed if name.startswith("program-")}
        assert changed - programs == (set() if exercise.kind.name == "break" else {"diagnosis-answer"})
        assert bool(programs) != (exercise.trap or exercise.kind.name == "five")


ORDER = (
    "title", "setup", "look", "numbers", "look-first", "hypothesis", "program-head", "more", "hints", "form",
    "diagnosis-answer", "repair", "diagnosis", "debrief",
)  # fmt: skip
OF_A_DIAGNOSIS = ("hypothesis", "form", "diagnosis-answer", "diagnosis")
"""Cells that a *break* exercise lacks. Its program stands open, as the learner is to edit it."""


@pytest.mark.parametrize("name", list(with_program()))
def test_the_symptom_comes_first_and_the_code_is_folded(name: str) -> None:
    cells = json.loads(build(exercises()[name]))["cells"]
    edited = exercises()[name].kind.name == "break"
    order = [cell_id for cell_id in ORDER if not edited or cell_id not in OF_A_DIAGNOSIS]
    ids = [cell["id"] for cell in cells]
    assert [cell_id for cell_id in ids if cell_id in ORDER] == order
    for cell in cells:
        folded = cell["metadata"].get("jupyter", {}).get("source_hidden", False)
        assert folded == (cell["id"].startswith(("program-", "diagnosis-answer")) and not edited), cell["id"]
    text = "".join("".join(cell["source"]) for cell in cells)
    assert "NotImplementedError" not in text and "Scenario" not in text, "nothing red, and no way to healthy text"


def test_a_cell_lists_the_views_when_it_is_run(capsys: Any) -> None:
    cells = {cell["id"]: "".join(cell["source"]) for cell in json.loads(build(exercises()["04_flat_loss"]))["cells"]}
    exec(cells["views"], {"program": Program()})
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line[0] != " "] == [*views.HEADINGS, "tools, as in program.tool(name)"]
    named = [line.split()[0] for line in lines if line[:2] == "  " and line[2] != " "]
    assert named == [*views.names(), *tools()]
    assert max(map(len, lines)) <= 100, "a longer one is cut within a word"
    assert not [name for name in diagnostics.names() if name in cells["look-text"]], "an instrument gives causes away"
