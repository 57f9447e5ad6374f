"""An assignment on disk, in nbgrader's layout; written to a temporary folder and then moved into place."""

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bugzoo.draws import VERSION
from bugzoo.errors import UserError
from bugzoo.instructor import handout, key, pages
from bugzoo.instructor.folder import FOLDER, FORMAT, check_place, manifest
from bugzoo.instructor.model import Assignment
from bugzoo.instructor.proof import Proof, refuse
from bugzoo.instructor.students import Own
from bugzoo.plain import plain

MANIFEST = f"{FOLDER}/manifest.json"


def texts(proof: Proof, students: Sequence[Own] = ()) -> dict[str, str]:
    """Return path -> text for all files but the manifest. Raises UserError if a notebook gives a fault away."""
    assignment, name = proof.assignment, proof.assignment.name
    answers = key.answers(assignment, proof.telling())
    instructor = handout.build(assignment, "instructor", answers)
    files = {
        **pages.pages(proof, answers, bool(students)),
        f"source/{name}/{name}.ipynb": instructor,
        f"{FOLDER}/solution.ipynb": handout.build(assignment, "solution", answers),
        f"{FOLDER}/key.json": _json(key.to_json(assignment, answers, proof.limit)),
        f"{FOLDER}/proof.json": _json(proof.to_json()),
    }
    if not students:
        files[f"student/{name}.ipynb"] = _student(assignment, answers, {})
    for variant in students:
        about = {"variant": {"version": VERSION, "tag": variant.tag}}
        files[f"student/{variant.student.id}/{name}.ipynb"] = _student(variant.assignment, answers, about)
    return files


def _student(assignment: Assignment, answers: list[key.Answer], about: dict[str, Any]) -> str:
    text = handout.build(assignment, "student", answers, about)
    handout.refuse_leaks(text, assignment)
    return text


def write(proof: Proof, out: Path, students: Sequence[Own] = (), force: bool = False) -> Path:
    """Write everything to `out`. Raises Refused if the proof failed, UserError if the folder is taken.

    A missing or empty folder is filled in one move. With `force` the files of an earlier assignment are replaced. A
    copy of each edited file is kept, and nothing else in the folder is touched.
    """
    refuse(proof)
    check_place(out, force)
    files = texts(proof, students)
    files[MANIFEST] = _json(_manifest(files, students))
    out = Path(os.path.abspath(out))
    temporary = None
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
        for path, text in files.items():
            (temporary / path).parent.mkdir(parents=True, exist_ok=True)
            (temporary / path).write_text(text, encoding="utf-8")
        os.chmod(temporary, 0o755)
        os.chmod(temporary / FOLDER, 0o700)  # only the instructor may read the key
        if not out.exists() or not any(out.iterdir()):
            with contextlib.suppress(FileNotFoundError):
                out.rmdir()
            temporary.rename(out)
            temporary = None
        else:
            _replace(temporary, out, files)
    except OSError as error:
        problem = f"{out} could not be written: {error.strerror}."
        raise UserError(f"{problem} The files that were there are unchanged.") from None
    finally:
        if temporary:
            shutil.rmtree(temporary, ignore_errors=True)
    return out


def _replace(temporary: Path, out: Path, found: dict[str, str]) -> None:
    """Replace the old files; an old file that was edited is kept as NAME.before."""
    before = manifest(out).get("files", {})
    # the manifest last: it marks the folder as complete
    for path in sorted({*before, *found}, key=lambda path: path == MANIFEST):
        target = out / path
        if not target.resolve().is_relative_to(out.resolve()):
            continue  # a manifest written by hand
        if target.is_file() and path != MANIFEST and _hash(target.read_bytes()) != before.get(path):
            target.replace(_free(target))
        if path in found:
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(temporary / path, target)
        elif target.is_file():
            target.unlink()


def _free(target: Path) -> Path:
    """Return an unused file name beside `target`."""
    for number in range(1, 10_000):
        other = target.with_name(f"{target.stem}.before{'' if number == 1 else number}{target.suffix}")
        if not other.exists():
            return other
    raise OSError(17, "no unused name for the copy of the old file")


def _manifest(found: dict[str, str], students: Sequence[Own]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "made_with": version("bugzoo"),
        "derivation": VERSION,
        "files": {path: _hash(text.encode()) for path, text in sorted(found.items())},
        "students": {variant.student.id: variant.to_json() for variant in students},
    }


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _json(value: Any) -> str:
    return json.dumps(plain(value), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
