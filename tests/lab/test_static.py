"""A lesson that was run and saved still shows its runs where no widget lives: as a table in text, and as a PNG.

That is a page without a kernel, nbclient, or VS Code when it cannot load what draws widgets.
"""

import base64
import os
import symtable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from nbclient import NotebookClient

from bugzoo import lessons, notebooks

pytestmark = pytest.mark.slow
SHOWS = ("lab.live(", "lab.break_it(")
BEGINS = (*SHOWS, "run_here(", ".run()")


def names(source: str) -> tuple[set[str], set[str]]:
    """(bound by a cell, used in it, in functions too)."""
    table = symtable.symtable(source, "cell", "exec")
    bound = {one.get_name() for one in table.get_symbols() if one.is_assigned() or one.is_imported()}
    used, inner = set(), [table]
    while inner:
        scope = inner.pop()
        used |= {one.get_name() for one in scope.get_symbols() if one.is_referenced()}
        inner += scope.get_children()
    return bound, used


def needed(lesson: str) -> list[Any]:
    """The cells that show a run, and those that they need, in order: the rest of the lesson takes minutes."""
    code = [cell for cell in lessons.load(lesson).notebook(solved=True).cells if cell.cell_type == "code"]
    facts = [names(cell.source) for cell in code]
    wanted = [number for number, cell in enumerate(code) if any(call in cell.source for call in SHOWS)]
    kept: set[int] = set()
    while wanted:
        number = wanted.pop()
        kept.add(number)
        for name in facts[number][1]:
            before = [one for one in range(number) if name in facts[one][0]]
            wanted += [one for one in before[-1:] if one not in kept]
    cells = []
    for number in sorted(kept):
        if any(call in code[number].source for call in BEGINS):
            # a cell that is left out here may have ended a run that stands still
            cells.append(notebooks.code(f"before-{code[number].id}", "_ = lab.stop_all()"))
        cells.append(code[number])
    return cells


def saved(lesson: str, folder: Path, widgets: str) -> dict[str, Any]:
    """Cell -> its outputs as they are in the file."""
    book = notebooks.notebook(needed(lesson))
    own = {"BUGZOO_DATA": str(folder), "IPYTHONDIR": str(folder), "BUGZOO_WIDGETS": widgets, "OMP_NUM_THREADS": "1"}
    with patch.dict(os.environ, own):
        where = {"metadata": {"path": str(folder)}}
        NotebookClient(book, timeout=600, kernel_name="python3", resources=where).execute()
    return {cell.id: cell.outputs for cell in book.cells if any(call in cell.source for call in SHOWS)}


def pictures(outputs: list[Any]) -> list[bytes]:
    found = [output.data["image/png"] for output in outputs if "image/png" in output.get("data", {})]
    return [base64.b64decode(one) for one in found]


def text(outputs: list[Any]) -> str:
    return "\n".join(output.get("text", "") or output.get("data", {}).get("text/plain", "") for output in outputs)


@pytest.mark.parametrize("lesson", ["03", "12"])
def test_without_a_front_end_every_run_is_a_table_and_a_picture(lesson: str, tmp_path: Path) -> None:
    for name, outputs in saved(lesson, tmp_path, "0").items():
        shown = pictures(outputs)
        assert len(shown) == 1 and shown[0].startswith(b"\x89PNG") and len(shown[0]) > 5000, name
        assert "step" in text(outputs) and "loss" in text(outputs), name
        assert not any("widget-view" in kind for output in outputs for kind in output.get("data", {})), name


@pytest.mark.parametrize("lesson", ["03"])
def test_where_widgets_are_asked_for_and_none_lives_the_same_stands_beside_them(lesson: str, tmp_path: Path) -> None:
    for name, outputs in saved(lesson, tmp_path, "1").items():
        assert any("widget-view" in kind for output in outputs for kind in output.get("data", {})), name
        if name == "panel":  # it runs when somebody presses Run
            assert pictures(outputs) == [] and "run this cell" in text(outputs), name
            continue
        shown = pictures(outputs)
        assert len(shown) == 1 and len(shown[0]) > 5000, name
        assert "step" in text(outputs) and "loss" in text(outputs), name
