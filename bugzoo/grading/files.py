"""The notebooks on disk: built by one command, compared with what is there, put back for a learner."""

from pathlib import Path

from bugzoo import notebooks, record
from bugzoo.errors import UserError
from bugzoo.files import write_atomic
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
    """Path below the root -> what the builder makes of the declarations."""
    return {
        f"{folder}/{name}.ipynb": build_notebook(exercise, kind)
        for folder, kind in FOLDERS.items()
        for name, exercise in exercises().items()
    }


def build(place: Path | None = None) -> list[str]:
    """Write every exercise and solution that differs; returns the paths that were written."""
    return notebooks.write_changed(texts(), place or root())


def stray(place: Path | None = None) -> list[str]:
    """What is wrong on disk: files that differ from what the builder makes, are missing, or belong to nothing."""
    place, wanted = place or root(), texts()
    problems = notebooks.stray(wanted, place, "declaration", "bugzoo exercises build")
    for folder in FOLDERS:
        for file in sorted((place / folder).rglob("*")):
            name = file.relative_to(place).as_posix()
            if file.is_file() and name not in wanted and ".ipynb_checkpoints" not in name:
                problems.append(f"{name} belongs to no declaration")
    return problems


def course(folder: Path) -> list[Path]:
    """Write the instructor's versions where nbgrader looks for them: `folder`/source/NAME/NAME.ipynb.

    Nothing is kept of them in the repository: they hold the solutions, and the declarations make them at any time.
    A `nbgrader_config.py` with a longer limit a cell goes with them where the course has none yet.
    Raises UserError when the folder cannot be written.
    """
    wanted = {
        folder / "source" / name / f"{name}.ipynb": build_notebook(exercise, "instructor")
        for name, exercise in exercises().items()
    }
    if not (folder / "nbgrader_config.py").exists():
        wanted[folder / "nbgrader_config.py"] = CONFIGURATION
    for target, text in wanted.items():
        write_atomic(target, text, parents=True)
    return list(wanted)


def reset(name: str, folder: Path | None = None) -> tuple[Path, Path | None]:
    """Put an exercise back as it was handed out, in `folder` (the one that holds `exercises/`); attempts are forgotten.

    Returns its path, and that of what was there, which is kept beside it as `NAME.before.ipynb` (`.before2`, ...: no
    version is lost) where it differs. Raises UserError for an unknown name or a folder that cannot be written.
    """
    exercise = load(name)
    folder = folder or Path.cwd()
    target = (folder / "exercises" if (folder / "exercises").is_dir() else folder) / f"{exercise.name}.ipynb"
    text, before = build_notebook(exercise, "student"), None
    if not target.parent.is_dir():
        raise UserError(f"There is no folder {target.parent}; `--folder DIR` names the one that holds exercises/.")
    if target.exists() and (theirs := target.read_bytes()) != text.encode():
        tries = ["before", *(f"before{number}" for number in range(2, 1000))]
        before = next(p for p in (target.with_suffix(f".{t}.ipynb") for t in tries) if not p.exists())
        write_atomic(before, theirs)  # first, so that a full disk loses nothing
    write_atomic(target, text)
    record.forget(exercise.name, exercise.scenario.ticket)
    return target, before
