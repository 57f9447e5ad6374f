"""Checks of an assignment's folder that need no torch, so that a broken folder is reported at once."""

import json
from pathlib import Path
from typing import Any

from bugzoo.errors import UserError
from bugzoo.files import read_json

FORMAT = "bugzoo-assignment/1"
FOLDER, FILE = "instructor", "key.json"
_PARTS = {
    "assignment": str, "title": str, "story": str, "program": str, "faults": list, "seed": int, "size": str,
    "points": dict, "grading": dict, "handed_out": str, "answers": list, "made_with": dict,
}  # fmt: skip
"""Fields of a key and their types."""


def key(folder: Path) -> dict[str, Any]:
    """Return `key.json` as it is. Raises UserError if it is missing or this bugzoo cannot read it."""
    path = folder / FOLDER / FILE
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        advice = f"Create an assignment with `bugzoo assign ... {folder}`."
        raise UserError(f"{folder} has no answer key ({FOLDER}/{FILE}). {advice}") from None
    except OSError as error:
        raise UserError(f"{path} could not be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} could not be read: it is not JSON ({error}). {_cure(folder)}") from None
    if not isinstance(fields, dict) or "format" not in fields:
        raise UserError(f"{path} could not be read: it is not an answer key. {_cure(folder)}")
    if fields["format"] != FORMAT:
        raise UserError(f"{path} has the format {fields['format']!r}; this bugzoo reads {FORMAT}.")
    wrong = [name for name, kind in _PARTS.items() if not isinstance(fields.get(name), kind)]
    if wrong:
        problem = f"{wrong[0]!r} is {fields[wrong[0]]!r:.60}" if wrong[0] in fields else f"{wrong[0]!r} is missing"
        raise UserError(f"{path} could not be read: {problem}. {_cure(folder)}")
    return fields


def _cure(folder: Path) -> str:
    return f"Restore it from a copy, or write it again with the same `bugzoo assign ... {folder} --force`."


def manifest(folder: Path) -> dict[str, Any]:
    """Return `manifest.json` of an assignment's folder; empty if it cannot be read."""
    return read_json(folder / FOLDER / "manifest.json")


def drawn(folder: Path) -> dict[str, Any]:
    """Return student -> variant of an assignment's folder; empty where all have the same notebook.

    Raises UserError if the manifest is missing or this bugzoo cannot read it: students would be graded by variants that
    are not theirs.
    """
    path, fields = folder / FOLDER / "manifest.json", manifest(folder)
    if not fields:
        raise UserError(f"{path} is missing or is not JSON. It says which variant each student has. {_cure(folder)}")
    if fields.get("format") != FORMAT:
        raise UserError(f"{path} has the format {fields.get('format')!r}; this bugzoo reads {FORMAT}.")
    students = fields.get("students", {})
    if not isinstance(students, dict) or not all(isinstance(facts, dict) for facts in students.values()):
        raise UserError(f"{path} could not be read: 'students' is {students!r:.60}. {_cure(folder)}")
    return students


def upwards(name: str, start: Path) -> Path | None:
    """Return the folder of the assignment `name`, at or above `start`; nbgrader runs notebooks below it."""
    for folder in (start, *start.parents):
        if read_json(folder / FOLDER / FILE).get("assignment") == name:
            return folder
    return None


def check_place(out: Path, force: bool = False) -> None:
    """Raise UserError if `out` is taken. Called before the proof, which is slow."""
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise UserError(f"{out} is not a folder. Choose a new folder.")
    if not out.is_dir() or not any(out.iterdir()):
        return
    assignment = bool(manifest(out).get("files"))
    if force and assignment:
        return
    if assignment:
        advice = "Choose another folder, or add --force to replace its files."
        raise UserError(f"{out} already holds an assignment. {advice}")
    raise UserError(f"{out} is not empty, and its files are not from `bugzoo assign`. Choose another folder.")
