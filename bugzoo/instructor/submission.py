"""A submission read as data: the program's cells, what its forms handed in, and notes on what is odd about the file.

Nothing in it is run here. The grader's own cells are ignored, so editing them changes nothing.
"""

import hashlib
import json
import os
import re
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bugzoo.grading.program import cell_name
from bugzoo.instructor import downloads, form_records
from bugzoo.instructor.form_records import FormRecord

MOST_BYTES = 20 * 2**20
GRADED = ("repair", "diagnosis")
ANSWER = "diagnosis-answer"
NO_NOTEBOOK = "there is no notebook"
_DATE = re.compile(r"^\d{4}-\d\d-\d\d[ T]\d\d:\d\d[\w:.+ -]*$")
_MAGIC = re.compile(r"^\s*%%program[ \t]+([^\r\n]*)\r?\n?")


@dataclass(frozen=True)
class Submission:
    """One student's file. `problem` says why it cannot be graded; empty if it can."""

    student: str
    """The name of the file or folder, until `matching` finds whose it is."""
    path: Path | None = None
    problem: str = ""
    sections: dict[str, str] = field(default_factory=dict)
    answer: str = ""
    """Text of the cell for typed calls."""
    forms: tuple[FormRecord, ...] = ()
    """What the forms' buttons handed in, of whatever ticket."""
    notes: tuple[str, ...] = ()
    """What is odd about the notebook itself."""
    upload_notes: tuple[str, ...] = ()
    """What is odd about its name, and about the student's other hand-ins."""
    tag: str = ""
    """The variant named in the notebook; empty without variants."""
    digest: str = ""
    timestamp: str = ""
    entry: str = ""
    """The file or folder among the hand-ins, as the disk has it."""
    notebook: str = ""
    """What the student called the notebook, without `.ipynb`; empty where the file is named after the student."""
    mapped: str = ""
    """The student that the instructor's map gives it to."""
    broken: bool = False
    """Whether `problem` is about the hand-in itself. A file that the disk does not give is not the student's fault."""


def find(folder: Path, name: str) -> list[Submission]:
    """Return the submissions in alphabetical order; the files are not opened yet.

    Accepts nbgrader's layout (`<student>/<assignment>/<notebook>`), one folder with a notebook per student,
    `<student>.ipynb` files side by side, and the downloads of Moodle and Canvas. Links are not followed: they could lead
    anywhere on the grader's machine.
    """
    hand_ins = []
    for entry in sorted(folder.iterdir(), key=lambda path: path.name):
        if entry.name.startswith(".") or entry.name in ("__pycache__", "__MACOSX"):
            continue
        if entry.is_symlink():
            hand_in = _refused(entry.stem, "it is a link; submit the file itself")
        elif entry.is_dir():
            hand_in = _in_folder(entry, name)
        elif entry.suffix == ".ipynb":
            notebook = downloads.parse(entry.stem).notebook
            hand_in = Submission(shown(entry.stem), entry, notebook=notebook, upload_notes=renamed(notebook, name))
        elif downloads.parse(entry.stem).layout:  # a student handed it in, and the class's list must not say "nothing"
            hand_in = _refused(entry.stem, f"{NO_NOTEBOOK}: {shown(entry.name)} does not end in .ipynb")
        else:
            continue
        hand_ins.append(replace(hand_in, entry=entry.name))
    return hand_ins


def _refused(name: str, why: str) -> Submission:
    return Submission(shown(name), None, why, broken=True)


def renamed(own: str, name: str) -> tuple[str, ...]:
    """Return a note on a notebook that is not called `name`, after the assignment; nothing where `own` is empty."""
    return (f"the notebook was renamed to {shown(own)}.ipynb",) if own not in ("", name) else ()


def shown(name: object) -> str:
    """Return a file's or student's name with unprintable characters escaped, for tables, files and terminals.

    Names on Linux are bytes. Python keeps bytes that are not UTF-8 as lone surrogates, which cannot be printed or encoded.
    """
    text = os.fsencode(str(name)).decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def once_each(found: list[Submission]) -> list[Submission]:
    """Return one entry per student. A student with both a folder and a file cannot be graded: which one counts?"""
    by_name: dict[str, list[Submission]] = {}
    for hand_in in found:
        by_name.setdefault(hand_in.student, []).append(hand_in)
    why = "there is a folder {0} and a file {0}.ipynb; keep the one that counts"
    return [same[0] if len(same) == 1 else _refused(name, why.format(name)) for name, same in by_name.items()]


def _in_folder(folder: Path, name: str) -> Submission:
    paths = [path for pattern in ("*.ipynb", "*/*.ipynb") for path in sorted(folder.glob(pattern))]
    links = {path for path in paths if path.is_symlink() or path.parent.is_symlink()}
    every = [path for path in paths if ".ipynb_checkpoints" not in path.parts and path not in links]
    others = [path for path in every if path.parent != folder and path.parent.name == path.stem != name]
    # in nbgrader's layout each assignment has its folder
    files = [path for path in every if path not in others] or every
    named = [path for path in files if path.stem == name]
    chosen = named or files
    if not chosen:
        return _refused(folder.name, f"{NO_NOTEBOOK} {name}.ipynb in the folder")
    if len(chosen) > 1:
        names = ", ".join(shown(path.relative_to(folder)) for path in chosen[:4])
        return _refused(folder.name, f"there are several notebooks ({names}); keep the one that counts")
    notebook, notes = chosen[0].stem, renamed(chosen[0].stem, name)
    if len(files) > 1:
        notes = (f"the folder has {len(files)} notebooks; {shown(notebook)}.ipynb counts",)
    return Submission(shown(folder.name), chosen[0], notebook=notebook, upload_notes=notes)


def read(one: Submission, original: Mapping[str, Any]) -> Submission:
    """Return `one` with its file read. `original` is the notebook as handed out."""
    if one.problem or one.path is None:
        return one
    try:
        data = _bytes(one.path)
        one = replace(one, digest=hashlib.sha256(data).hexdigest(), timestamp=_when(one.path))
        notebook = _notebook(data)
        one = replace(one, tag=_tag(notebook))  # also of a notebook that cannot be graded: it says whose it is
        sections, answer, notes = _look(notebook, original)
        forms, odd = form_records.read(notebook)
        return replace(one, sections=sections, answer=answer, forms=tuple(forms), notes=(*notes, *odd))
    except Unreadable as why:
        return replace(one, problem=str(why), broken=True)
    except OSError as error:
        return replace(one, problem=f"the file could not be read: {error.strerror}")
    except Exception as error:  # a file can be malformed in ways that no test foresaw; the class continues
        return replace(one, problem=f"the file is malformed ({type(error).__name__}: {error})"[:300], broken=True)


class Unreadable(Exception):
    """Why a file cannot be graded."""


def _bytes(path: Path) -> bytes:
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        raise Unreadable("it is not a regular file")
    if status.st_size > MOST_BYTES:
        advice = "clear its outputs, run the cells of the forms again, and save it"
        raise Unreadable(f"the file has {status.st_size / 2**20:.0f} MiB, more than {MOST_BYTES // 2**20}; {advice}")
    return path.read_bytes()


def _notebook(data: bytes) -> dict[str, Any]:
    try:
        notebook = json.loads(data)
    except (ValueError, RecursionError):
        raise Unreadable("the file is not a notebook: it is not valid JSON") from None
    try:
        json.dumps(notebook, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        raise Unreadable("the file has invalid characters (lone surrogates, such as half an emoji)") from None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise Unreadable("the file is not a notebook of format 4: it has no cells")
    return notebook


def cells_of(made: Mapping[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    """Return (kind, text, nbgrader's metadata) of each cell; a malformed one counts as empty."""
    cells = []
    for cell in made["cells"]:
        cell = cell if isinstance(cell, dict) else {}
        text = cell.get("source", "")
        text = "".join(part for part in text if isinstance(part, str)) if isinstance(text, list) else text
        metadata: Any = cell.get("metadata") if isinstance(cell.get("metadata"), dict) else {}
        grader = metadata.get("nbgrader") if isinstance(metadata.get("nbgrader"), dict) else {}
        cells.append((str(cell.get("cell_type")), text if isinstance(text, str) else "", grader))
    return cells


def _about(made: dict[str, Any]) -> dict[str, Any]:
    """Return what bugzoo wrote into the notebook's metadata."""
    about = made.get("metadata", {}).get("bugzoo", {}) if isinstance(made.get("metadata"), dict) else {}
    return about if isinstance(about, dict) else {}


def _tag(made: dict[str, Any]) -> str:
    """Return the variant that the notebook was drawn as."""
    variant = _about(made).get("variant")
    return str(variant.get("tag", "")) if isinstance(variant, dict) else ""


def _look(made: dict[str, Any], original: Mapping[str, Any]) -> tuple[dict[str, str], str, list[str]]:
    """Return sections, diagnosis cell and notes. Raises Unreadable if it is unclear what to grade."""
    about = _about(made)
    expected = original["metadata"]["bugzoo"]
    for word in ("assignment", "ticket") if "assignment" not in expected else ("assignment",):
        if word in about and word in expected and about[word] != expected[word]:
            value = str(about[word])[:60]
            raise Unreadable(f"it is the notebook of another {word} ({value!r}, {expected[word]!r} was expected)")
    cells, notes = cells_of(made), []
    usual = {grader["grade_id"]: text for _, text, grader in cells_of(original) if grader}
    ids = [str(grader["grade_id"]) for _, _, grader in cells if "grade_id" in grader]
    count = ids.count(ANSWER)
    if count == 0 and ANSWER in usual:
        raise Unreadable(f"the cell {ANSWER!r} is missing; copy it, with its metadata, from the notebook as handed out")
    if count > 1:
        raise Unreadable(f"{count} cells are marked as {ANSWER!r}, after copying or splitting; keep one of them")
    texts = {str(grader["grade_id"]): text for _, text, grader in cells if "grade_id" in grader}
    graded = [name for name in GRADED if name in usual]
    notes += filter(None, (_locked(ids.count(name), texts.get(name, ""), usual[name], name) for name in graded))
    usual_order = list(_found([text for kind, text, _ in cells_of(original) if kind == "code"]))
    sections = _sections([text for kind, text, _ in cells if kind == "code"], usual_order)
    if list(sections) != usual_order:
        notes.append("the program's cells were out of order; they were sorted")
    return {section: sections[section] for section in usual_order}, texts.get(ANSWER, ""), notes


def _locked(count: int, text: str, usual: str, name: str) -> str:
    """Return what is odd about one of the grader's cells. It holds no student work, so no score depends on it."""
    if count == 0:
        return f"the graded cell {name!r} is missing; that does not count here (nbgrader would refuse the notebook)"
    if count > 1:
        return f"{count} cells are marked as {name!r}; that does not count here (nbgrader would refuse the notebook)"
    return "" if text.strip() == usual.strip() else f"the graded cell {name!r} was changed; that does not count"


def _found(texts: list[str]) -> dict[str, str]:
    """Return section -> text of each section's cell, in the notebook's order."""
    sections: dict[str, str] = {}
    for text in texts:
        match = _MAGIC.match(text)
        if not match:
            continue
        section, body = cell_name(match[1])[0], text[match.end() :]
        if section in sections and sections[section].strip() != body.strip():
            raise Unreadable(f"two cells begin with `%%program {section}` and differ; keep the one that counts")
        sections[section] = body
    return sections


def _sections(texts: list[str], wanted: list[str]) -> dict[str, str]:
    """Return the sections of the program as handed out, in the notebook's order."""
    sections = {section: text for section, text in _found(texts).items() if section in wanted}
    missing = [section for section in wanted if section not in sections]
    if missing:
        raise Unreadable(f"the program is incomplete: no cell begins with `%%program {missing[0]}`")
    return sections


def _when(path: Path) -> str:
    """Return when it was handed in: nbgrader's timestamp.txt beside it, else the file's own time."""
    noted = path.with_name("timestamp.txt")
    try:
        if noted.is_file() and not noted.is_symlink() and noted.stat().st_size < 200:
            line = noted.read_text(encoding="utf-8").strip().splitlines()[0]
            return line if _DATE.match(line) else ""
    except (OSError, ValueError, IndexError):
        pass
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(path.stat().st_mtime))
