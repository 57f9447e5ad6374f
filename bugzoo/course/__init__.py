"""The lessons, one percent script each in `bugzoo/lessons/`. The folder is the list: a file that is there is a lesson.

`bugzoo lessons build` makes `notebooks/NAME.ipynb` of `NAME.py`, `bugzoo lessons check` runs it and holds its text to what
its proof cells measure. How a lesson is written is told in `source.py` and, with an example, in CONTRIBUTING.md.
"""

from pathlib import Path

from bugzoo.course.source import Lesson, read
from bugzoo.errors import unknown

__all__ = ["Lesson", "build", "files", "load", "stray"]
PLACE = Path(__file__).parent.parent / "lessons"


def files() -> dict[str, Path]:
    """Name -> file of every lesson, in order; those that carry a number first."""
    found = (file for file in PLACE.glob("*.py") if not file.name.startswith("_"))
    return {file.stem: file for file in sorted(found)}


def load(name: str) -> Lesson:
    """A lesson by its name or number: `03_hunting_nan`, `03`, `3`. Raises UserError with the nearest names."""
    known = files()
    for stem, file in known.items():
        if name and (stem == name or stem.split("_")[0] in (name, name.zfill(2))):
            return read(file)
    raise unknown("lesson", name, known, "bugzoo lessons list")


def build(place: Path | None = None) -> list[str]:
    """Write every notebook that differs below `place`; returns the paths that were written. Raises UserError."""
    from bugzoo import material, notebooks

    return notebooks.write_changed(_texts(), place or material.root())


def stray(place: Path | None = None) -> list[str]:
    """What is wrong on disk: notebooks that are not what their lesson makes, are missing, or belong to none."""
    from bugzoo import material, notebooks

    place, wanted = place or material.root(), _texts()
    there = {file.relative_to(place).as_posix() for file in (place / "notebooks").glob("*.ipynb")}
    problems = notebooks.stray(wanted, place, "lesson", "bugzoo lessons build")
    return problems + [f"{path} belongs to no lesson" for path in sorted(there - set(wanted))]


def _texts() -> dict[str, str]:
    """Path below the root -> what the lesson makes."""
    from bugzoo.notebooks import to_text

    return {f"notebooks/{name}.ipynb": to_text(read(file).notebook()) for name, file in files().items()}
