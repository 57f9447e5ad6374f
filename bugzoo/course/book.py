"""A lesson as a notebook: what a learner gets, and what proves it. A proof does not reach this code (see `source.py`)."""

import html
import json
import re
from typing import Any

from bugzoo import material, notebooks
from bugzoo.course import on_gpu
from bugzoo.course.cells import CLAIM, Cell
from bugzoo.course.source import ASKS, Lesson
from bugzoo.device import ABOUT, LINE

SOLUTION = "One solution (open it when your code passes, or when you are stuck)"


def notebook(lesson: Lesson, proofs: bool = False, solved: bool = False) -> Any:
    """Return a lesson's notebook for nbformat. `solved`: with the solutions filled in; `proofs`: the notebook that proves
    the lesson, also solved."""
    cells: list[Any] = []
    waiting: list[Any] = []
    for cell in lesson.cells:
        about = {"tags": list(cell.tags)} if cell.tags else {}
        if cell.kind == "markdown":
            cells.append(notebooks.markdown(cell.key, _linked(lesson, cell.text), **about))
        elif cell.kind == "folded":
            title, text = cell.shown.partition("\n")[0], _linked(lesson, cell.text.partition("\n")[2])
            cells.append(notebooks.markdown(cell.key, _folded(title, text.strip("\n")), **about))
            cells, waiting = cells + waiting, []
        elif cell.kind == "measured" and not proofs:
            waiting.append(_measured(lesson, cell))
        elif cell.kind == "solution" and not (proofs or solved):
            cells.append(notebooks.markdown(cell.key, _folded(SOLUTION, f"```python\n{cell.text}\n```"), **about))
        elif cell.kind in ASKS:
            cells.append(notebooks.code(cell.key, lesson.call(cell), **about))
        elif cell.kind == "task":
            text = lesson.tasks[cell.name].solution if proofs or solved else cell.text
            cells.append(notebooks.code(cell.key, lesson.task_code(cell, text), **about))
        elif cell.kind == "code" or (cell in lesson.proofs and proofs):
            cells.append(notebooks.code(cell.key, re.sub(r"(?m)^# (?=%{1,2}\w|!\w)", "", cell.text), **about))
            if cell.text.startswith(LINE):
                cells.append(notebooks.markdown("device", f"{ABOUT} {on_gpu.line(lesson.file)}"))
    return notebooks.notebook(cells + waiting)


def _linked(lesson: Lesson, text: str) -> str:
    """Return a text as the learner reads it: a number that a measured cell made is a link to that cell."""
    places = {name: cell.key for cell in lesson.of("measured") for name in lesson.binds(cell)}

    def shown(claim: re.Match[str]) -> str:
        place = places.get(claim[2])
        return f"[{claim[1]}]({lesson.file.stem}.ipynb#cell-id={place})" if place else claim[1]

    return CLAIM.sub(shown, text)


def _measured(lesson: Lesson, cell: Cell) -> Any:
    """Return a proof as the learner gets it: folded, with what it measures in its first line."""
    claimed = ", ".join(dict.fromkeys(claim.shown for claim in lesson.claims if claim.name in lesson.binds(cell)))
    first = f"%%measured {lesson.number}/{cell.key}  # {claimed}{_seconds(lesson.file.stem, cell.key)}"
    return notebooks.code(cell.key, f"{first}\n{cell.text}", jupyter={"source_hidden": True})


def _seconds(stem: str, key: str) -> str:
    """Return " (about 10 s, after the first cell)": seconds of a measured cell's proof; "" where they are not known."""
    file = material.root() / "proofs" / "lessons" / f"{stem}.json"
    entry = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    seconds = entry.get("seconds", {}).get(key)
    return f" (about {seconds} s, after the first cell)" if seconds else ""


def _folded(title: str, text: str) -> str:
    """Return Markdown that JupyterLab, VS Code and GitHub show closed; its title is HTML, with `code` marked."""
    title = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(title, quote=False))
    return f"<details><summary><b>{title}</b></summary>\n\n{text}\n\n</details>"
