"""Find lessons and exercises, and copy them to a learner's folder without overwriting the learner's work."""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bugzoo.errors import UserError, unknown
from bugzoo.files import check_folder, write_atomic

MANIFEST = ".bugzoo.json"
"""A file in the learner's folder with the hash of each copied file. It separates changed files from old versions."""


def root() -> Path:
    """Return the folder that holds `notebooks/` and `exercises/`: the installed package, or an editable repository."""
    here = Path(__file__).resolve().parent
    for place in (here, here.parent):
        if (place / "notebooks").is_dir() and (place / "exercises").is_dir():
            return place
    raise UserError(
        "This installation of bugzoo has no lessons. Install it again: pip install --force-reinstall bugzoo"
    )


def exercise_files() -> list[Path]:
    """Return the exercise notebooks, in order, without drawn cases such as `04_flat_loss-1.ipynb`."""
    return sorted(file for file in (root() / "exercises").glob("*.ipynb") if "-" not in file.stem)


def effort(notebook: dict[str, Any]) -> dict[str, int]:
    """Return an exercise's `level` (1 to 5) and estimated `minutes`, as its notebook states them; 0 if it does not."""
    stated = notebook.get("metadata", {}).get("bugzoo", {})
    return {name: int(stated.get(name, 0)) for name in ("level", "minutes")}


@dataclass
class Copied:
    """What `copy_to` did, as paths below the learner's folder."""

    new: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    """Changed by the learner, so not overwritten."""
    newer: list[str] = field(default_factory=list)
    """Files of `kept` that have a newer version than the copied one."""
    beside: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def lesson_file(number: str | None) -> str:
    """Return the notebook of a lesson, by number or name, as a path below `root()`. None means the first one, the map.

    Raises UserError for an unknown one.
    """
    notebooks = sorted((root() / "notebooks").glob("*.ipynb"))
    for file in notebooks:
        if number is None or file.stem == number or (number and file.stem.split("_")[0] == number.zfill(2)):
            return file.relative_to(root()).as_posix()
    raise unknown("lesson", str(number), [file.stem.split("_")[0] for file in notebooks], "bugzoo lab --help")


def copy_to(folder: Path, *, solutions: bool = False, beside: bool = False) -> Copied:
    """Copy lessons and exercises to `folder`. A file that the learner changed is never overwritten.

    An unchanged file is updated to the newer version. `beside` writes the newer version of a changed file next to it,
    as `NAME.new.ipynb`, unless that was changed as well. Raises UserError if the folder cannot be written.
    """
    source, copied = root(), Copied()
    if folder.resolve() == source:
        return copied  # the repository itself: nothing to copy
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file; name a folder for lessons and exercises.")
    check_folder(folder)
    manifest = folder / MANIFEST
    hashes = _read(manifest)
    kinds = ["notebooks", "exercises", *(["solutions"] if solutions else [])]
    files = [file for kind in kinds for file in sorted((source / kind).rglob("*")) if file.is_file()]
    try:
        for file in files:
            name = file.relative_to(source)
            if not any(part.startswith(".") or part == "__pycache__" for part in name.parts):
                _copy(file.read_bytes(), folder, name.as_posix(), hashes, beside, copied)
    except OSError as error:  # for example an unreadable file
        raise UserError(f"{error.filename}: {error.strerror}. Name a folder of your own.") from None
    finally:
        if folder.is_dir():  # also record what was copied before Ctrl-C or a full disk
            write_atomic(manifest, json.dumps(hashes, indent=1, sort_keys=True))
    return copied


def _copy(fresh: bytes, folder: Path, name: str, known: dict[str, str], beside: bool, done: Copied) -> None:
    """Copy one file. `known` holds the hash of each file as it was copied."""
    target = folder / name
    if target.is_dir():
        raise UserError(f"{target} is a folder, but a notebook belongs there. Move it away.")
    present = target.read_bytes() if target.is_file() else None
    if present == fresh:
        done.same.append(name)
        known[name] = _hash(fresh)
        return
    if present is not None and _hash(present) != known.get(name):
        done.kept.append(name)
        if known.get(name) == _hash(fresh):
            return  # the learner changed the newest version
        done.newer.append(name)
        new = target.with_name(f"{target.stem}.new{target.suffix}")
        extra = new.relative_to(folder).as_posix()
        if beside and (not new.exists() or _hash(new.read_bytes()) == known.get(extra)):
            write_atomic(new, fresh, parents=True)
            known[extra] = _hash(fresh)
            done.beside.append(extra)
        return
    (done.new if present is None else done.updated).append(name)
    write_atomic(target, fresh, parents=True)
    known[name] = _hash(fresh)


def _read(manifest: Path) -> dict[str, str]:
    try:
        hashes = json.loads(manifest.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return hashes if isinstance(hashes, dict) else {}
