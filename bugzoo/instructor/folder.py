"""What an assignment's folder holds, as far as it can be told without torch: so that a broken one is told at once."""

import json
from pathlib import Path
from typing import Any

from bugzoo.errors import UserError

FORMAT = "bugzoo-assignment/1"
FOLDER, FILE = "instructor", "key.json"
_PARTS = {
    "assignment": str, "title": str, "story": str, "program": str, "faults": list, "seed": int, "size": str,
    "points": dict, "grading": dict, "handed_out": str, "answers": list, "made_with": dict,
}  # fmt: skip
"""What a key holds, and of which kind."""


def key(folder: Path) -> dict[str, Any]:
    """`key.json` as it stands there. Raises UserError where there is none, or none that this bugzoo can read."""
    path = folder / FOLDER / FILE
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise UserError(
            f"{folder} holds no answer key ({FOLDER}/{FILE}). `bugzoo assign ... {folder}` makes an assignment."
        ) from None
    except OSError as error:
        raise UserError(f"{path} could not be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} could not be read: it is no JSON ({error}). {_cure(folder)}") from None
    if not isinstance(found, dict) or "format" not in found:
        raise UserError(f"{path} could not be read: it is no answer key. {_cure(folder)}")
    if found["format"] != FORMAT:
        raise UserError(f"{path} has the format {found['format']!r}; this bugzoo reads {FORMAT}.")
    wrong = [name for name, kind in _PARTS.items() if not isinstance(found.get(name), kind)]
    if wrong:
        said = f"{wrong[0]!r} is {found[wrong[0]]!r:.60}" if wrong[0] in found else f"{wrong[0]!r} is missing"
        raise UserError(f"{path} could not be read: {said}. {_cure(folder)}")
    return found


def _cure(folder: Path) -> str:
    return f"Take it from a copy, or let `bugzoo assign ... {folder} --force` write it again from the same words."


def manifest(folder: Path) -> dict[str, Any]:
    """`manifest.json` of an assignment's folder; empty where it cannot be read."""
    try:
        found = json.loads((folder / FOLDER / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def upwards(name: str, start: Path) -> Path | None:
    """The folder of an assignment of this name, at or above `start`: nbgrader runs notebooks somewhere below it."""
    for folder in (start, *start.parents):
        path = folder / FOLDER / FILE
        try:
            if path.is_file() and json.loads(path.read_text(encoding="utf-8")).get("assignment") == name:
                return folder
        except (OSError, ValueError, AttributeError):
            continue
    return None


def check_place(out: Path, force: bool = False) -> None:
    """Raises UserError when `out` is taken: found out before anything is proved, which takes a while."""
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise UserError(f"{out} is no folder; name one that is not there yet.")
    if not out.is_dir() or not any(out.iterdir()):
        return
    ours = bool(manifest(out).get("files"))
    if force and ours:
        return
    if ours:
        raise UserError(f"{out} holds an assignment already. Name another folder, or say --force to replace its files.")
    raise UserError(f"{out} is not empty, and what is in it was not made by `bugzoo assign`. Name another folder.")
