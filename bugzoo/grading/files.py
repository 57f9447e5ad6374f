"""The notebooks on disk: built by one command, compared with what is there, put back for a learner."""

from pathlib import Path

from bugzoo import notebooks, record
from bugzoo.errors import UserError
from bugzoo.files import write_atomic
from bugzoo.grading import breaking, lineup
from bugzoo.grading.breaking import notebook as breaking_notebook
from bugzoo.grading.exercises import exercises, load
from bugzoo.grading.lineup import notebook as lineup_notebook
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
    return {f"{folder}/{name}.ipynb": text for folder, kind in FOLDERS.items() for name, text in _of(kind).items()}


def _of(kind: str) -> dict[str, str]:
    """Name -> notebook of one kind, of every exercise, whether it asks for a repair, for the run that is ill, or for an edit."""
    repairs = {name: build_notebook(exercise, kind) for name, exercise in exercises().items()}
    others = {name: lineup_notebook.build(one, kind) for name, one in lineup.lineups().items()}
    broken = {name: breaking_notebook.build(one, kind) for name, one in breaking.breakings().items()}
    return dict(sorted((repairs | others | broken).items()))


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
    wanted = {folder / "source" / name / f"{name}.ipynb": text for name, text in _of("instructor").items()}
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
    stem, ticket, text = _handed_out(name)
    folder, before = folder or Path.cwd(), None
    target = (folder / "exercises" if (folder / "exercises").is_dir() else folder) / f"{stem}.ipynb"
    if not target.parent.is_dir():
        raise UserError(f"There is no folder {target.parent}; `--folder DIR` names the one that holds exercises/.")
    if target.exists() and (theirs := target.read_bytes()) != text.encode():
        tries = ["before", *(f"before{number}" for number in range(2, 1000))]
        before = next(p for p in (target.with_suffix(f".{t}.ipynb") for t in tries) if not p.exists())
        write_atomic(before, theirs)  # first, so that a full disk loses nothing
    write_atomic(target, text)
    record.forget(stem, ticket)
    return target, before


def _handed_out(name: str) -> tuple[str, str, str]:
    """(name, ticket, notebook) of an exercise of any kind, by name or number. Raises UserError."""
    if found := lineup.named(name):
        one = lineup.load(found)
        return found, one.ticket, lineup_notebook.build(one)
    if found := breaking.named(name):
        task = breaking.load(found)
        return found, task.ticket, breaking_notebook.build(task)
    exercise = load(name)
    return exercise.name, exercise.scenario.ticket, build_notebook(exercise)
