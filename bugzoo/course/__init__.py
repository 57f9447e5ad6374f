"""The lessons, one percent script each in `bugzoo/lessons/`. Every file in that folder is a lesson.

`bugzoo lessons build` writes `notebooks/NAME.ipynb` from `NAME.py`. `bugzoo lessons check` runs it and checks its text
against its proof cells. For the format see `source.py`; CONTRIBUTING.md says when a lesson is ready.
"""

from pathlib import Path
from typing import Any

from bugzoo.course.source import Lesson, MissingPart, read
from bugzoo.errors import unknown

__all__ = ["Lesson", "MissingPart", "build", "files", "load", "numbers", "stray"]
PLACE = Path(__file__).parent.parent / "lessons"


def files() -> dict[str, Path]:
    """Return name -> file of every lesson, in order; numbered ones first."""
    paths = (file for file in PLACE.glob("*.py") if not file.name.startswith("_"))
    return {file.stem: file for file in sorted(paths)}


def load(name: str) -> Lesson:
    """Return a lesson by name or number: `03_hunting_nan`, `03`, `3`. Raises UserError with the nearest names."""
    lessons = files()
    for stem, file in lessons.items():
        if name and (stem == name or stem.split("_")[0] in (name, name.zfill(2))):
            return read(file)
    raise unknown("lesson", name, lessons, "bugzoo lessons list")


def build(place: Path | None = None) -> list[str]:
    """Write every notebook that differs below `place`; return the written paths. Raises UserError."""
    from bugzoo import material, notebooks

    return notebooks.write_changed(_texts(), place or material.root())


def stray(place: Path | None = None) -> list[str]:
    """Return the problems on disk: notebooks that differ from their lesson, are missing, or have no lesson."""
    from bugzoo import material, notebooks

    place, texts = place or material.root(), _texts()
    there = {file.relative_to(place).as_posix() for file in (place / "notebooks").glob("*.ipynb")}
    problems = notebooks.stray(texts, place, "lesson", "bugzoo lessons build")
    return problems + [f"{path} has no lesson" for path in sorted(there - set(texts))]


def _texts() -> dict[str, str]:
    """Return path below the root -> the lesson's notebook."""
    from bugzoo.course.book import notebook
    from bugzoo.notebooks import to_text

    texts = {f"notebooks/{name}.ipynb": to_text(notebook(read(file))) for name, file in files().items()}
    return texts | {"notebooks/glossary.ipynb": to_text(_glossary())}


def numbers() -> set[str]:
    """Return the numbers of the lessons, as in "03"."""
    return {name[:2] for name in files() if name[:2].isdigit()}


def _glossary() -> Any:
    """Return the glossary as a notebook. It names no fault, so that it gives no exercise away."""
    from bugzoo.glossary import TERMS, TITLE
    from bugzoo.notebooks import markdown, notebook

    texts = [f"## {term.name}\n\n{term.text}\n\n{term.lesson_line(numbers())}".strip() for term in TERMS]
    # one cell: JupyterLab finds the heading of a link only in cells that it has drawn, and draws those far down late
    return notebook([markdown("title", TITLE), markdown("terms", "\n\n".join(texts))])
