"""The notebooks on disk: built by one command, compared with what is there, put back for a learner."""

from pathlib import Path

from bugzoo.errors import UserError
from bugzoo.grading import progress
from bugzoo.grading.exercises import exercises, load
from bugzoo.grading.notebook import build as build_notebook
from bugzoo.material import root

FOLDERS = {"exercises": "student", "solutions": "solution"}


def texts() -> dict[str, str]:
    """Path below the root -> what the builder makes of the declarations."""
    return {
        f"{folder}/{name}.ipynb": build_notebook(exercise, kind)
        for folder, kind in FOLDERS.items()
        for name, exercise in exercises().items()
    }


def build(place: Path | None = None) -> list[str]:
    """Write every exercise and solution that differs; returns the paths that were written."""
    place, written = place or root(), []
    for path, text in texts().items():
        target = place / path
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
            written.append(path)
    return written


def stray(place: Path | None = None) -> list[str]:
    """What is wrong on disk: files that differ from what the builder makes, are missing, or belong to nothing."""
    place, wanted = place or root(), texts()
    problems = []
    for path, text in wanted.items():
        target = place / path
        if not target.exists():
            problems.append(f"{path} is missing; `bugzoo exercises build` makes it")
        elif target.read_text(encoding="utf-8") != text:
            problems.append(f"{path} is not what its declaration makes; `bugzoo exercises build` makes it again")
    for folder in FOLDERS:
        for file in sorted((place / folder).rglob("*")):
            name = file.relative_to(place).as_posix()
            if file.is_file() and name not in wanted and ".ipynb_checkpoints" not in name:
                problems.append(f"{name} belongs to no declaration")
    return problems


def reset(name: str, folder: Path | None = None) -> Path:
    """Put an exercise back as it was handed out, in `folder` (the one that holds `exercises/`); attempts are forgotten.

    What was there is kept beside it as `NAME.before.ipynb`. Raises UserError for an unknown name or a folder that
    cannot be written.
    """
    exercise = load(name)
    folder = folder or Path.cwd()
    target = (folder / "exercises" if (folder / "exercises").is_dir() else folder) / f"{exercise.name}.ipynb"
    try:
        if target.exists():
            target.replace(target.with_name(f"{exercise.name}.before.ipynb"))
        target.write_text(build_notebook(exercise, "student"), encoding="utf-8")
    except OSError as error:
        raise UserError(f"{target} could not be written: {error.strerror}.") from None
    progress.forget(exercise.name)
    return target
