"""The notebooks on disk: build them, compare them with the declarations, reset one for a learner."""

from itertools import product
from pathlib import Path
from typing import Any

from bugzoo import notebooks, record
from bugzoo.errors import UserError
from bugzoo.files import write_atomic
from bugzoo.grading import another
from bugzoo.grading.exercises import exercises, load
from bugzoo.grading.notebook import STUB
from bugzoo.grading.notebook import build as build_notebook
from bugzoo.material import root

FOLDERS = {"exercises": "student", "solutions": "solution"}
CONFIGURATION = f"""c = get_config()  # noqa: F821
c.Execute.timeout = 300  # seconds a cell: grading trains a program several times; nbgrader's own limit is 30
c.ClearSolutions.code_stub = {{"python": "{STUB}"}}  # nothing that fails beside a form
"""


def texts() -> dict[str, str]:
    """Return path below the root -> text that the builder creates from the declarations."""
    pairs = product(FOLDERS.items(), exercises().items())
    return {f"{folder}/{name}.ipynb": build_notebook(exercise, kind) for (folder, kind), (name, exercise) in pairs}


def build(place: Path | None = None) -> list[str]:
    """Write every exercise and solution that differs; return the written paths."""
    return notebooks.write_changed(texts(), place or root())


def stray(place: Path | None = None) -> list[str]:
    """Return the problems on disk: files that differ from the build, are missing, or have no declaration."""
    place, expected = place or root(), texts()
    problems = notebooks.stray(expected, place, "declaration", "bugzoo exercises build")
    for folder in FOLDERS:
        for file in sorted((place / folder).rglob("*")):
            name = file.relative_to(place).as_posix()
            personal = another.parted(file.stem)[1] or ".ipynb_checkpoints" in name  # a learner's
            if file.is_file() and name not in expected and not personal:
                problems.append(f"{name} has no declaration")
    return problems


def course(folder: Path) -> list[Path]:
    """Write the instructor's versions where nbgrader looks for them: `folder`/source/NAME/NAME.ipynb.

    The repository does not contain them: they hold the solutions and can be built at any time. A `nbgrader_config.py`
    with a longer time limit per cell is added if the course has none.
    Raises UserError if the folder cannot be written.
    """
    built = {name: build_notebook(exercise, "instructor") for name, exercise in exercises().items()}
    targets = {folder / "source" / name / f"{name}.ipynb": text for name, text in built.items()}
    if not (folder / "nbgrader_config.py").exists():
        targets[folder / "nbgrader_config.py"] = CONFIGURATION
    for target, text in targets.items():
        write_atomic(target, text, parents=True)
    return list(targets)


def reset(name: str, folder: Path | None = None) -> tuple[Path, Path | None]:
    """Reset an exercise to its original in `folder` (the one that holds `exercises/`); attempts are deleted.

    Returns its path and that of the old version, which is kept as `NAME.before.ipynb` (`.before2`, ...: no version is
    lost) if it differs. Raises UserError for an unknown name or a folder that cannot be written.
    """
    exercise = load(name)
    target = _place(folder) / f"{exercise.name}.ipynb"
    text, before = build_notebook(another.told(exercise), "student"), None
    if target.exists() and (theirs := target.read_bytes()) != text.encode():
        tries = ["before", *(f"before{number}" for number in range(2, 1000))]
        before = next(p for p in (target.with_suffix(f".{t}.ipynb") for t in tries) if not p.exists())
        write_atomic(before, theirs)  # first, so that a full disk loses nothing
    write_atomic(target, text)
    record.forget(exercise.name, exercise.scenario.ticket)
    return target, before


def draw_another(name: str, folder: Path | None = None, **how: Any) -> Path:
    """Write the next case of an exercise beside it, as `NAME-1.ipynb` and so on, and return its path.

    The case and its healthy twin are trained for the figures in its ticket. `folder` holds `exercises/`; no file is
    overwritten. `progress=` is told of the two runs. Raises UserError for an unknown name, a folder that cannot be
    written, or a run that fails.
    """
    base = another.parted(load(name).name)[0]
    place = _place(folder)
    number = next(n for n in range(1, 10_000) if not (place / f"{base}-{n}.ipynb").exists())
    case = another.told(load(f"{base}-{number}"), **how)
    target = place / f"{case.name}.ipynb"
    write_atomic(target, build_notebook(case, "student"))
    return target


def _place(folder: Path | None) -> Path:
    """Return the folder of the exercises' files. Raises UserError if it is missing."""
    folder = folder or Path.cwd()
    place = folder / "exercises" if (folder / "exercises").is_dir() else folder
    if not place.is_dir():
        raise UserError(f"There is no folder {place}. Give the folder that holds exercises/ with `--folder DIR`.")
    return place
