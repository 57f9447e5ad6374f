"""What somebody handed in, read as data: the program's cells, the answer's cell, and what is odd about the file.

Nothing of it runs here. The grader's own cells do not count, so that editing them changes nothing.
"""

import hashlib
import json
import re
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bugzoo.grading.program import cell_name

MOST_BYTES, MOST_PROGRAM = 20 * 2**20, 2**20
_DATE = re.compile(r"^\d{4}-\d\d-\d\d[ T]\d\d:\d\d[\w:.+ -]*$")
_MAGIC = re.compile(r"^\s*%%program[ \t]+([^\r\n]*)\r?\n?")


@dataclass(frozen=True)
class Submission:
    """One student's file. `problem` says why it cannot be graded; empty when it can."""

    student: str
    path: Path | None = None
    problem: str = ""
    sections: dict[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    """Sections without a cell. Their text is the one that was handed out, as it is where nbgrader runs the notebook."""
    answer: str = ""
    """Text of the cell in which the answer is given; empty where there is none to give."""
    notes: tuple[str, ...] = ()
    tag: str = ""
    """The variant that the notebook says it is; empty where there are none."""
    digest: str = ""
    timestamp: str = ""
    clock: str = ""
    """"file" where the time is only the file's own."""
    marked: bool = True
    """Whether the notebook's metadata still say of which assignment it is."""
    handed: str = ""
    """Where it lay in what was downloaded."""
    place: str = ""
    """The folder or number that the LMS knows it by."""
    matched: str = ""
    """By what its author was found on the roster."""
    unmatched: str = ""
    """Why nobody on the roster is its author; empty where somebody is, and where there is no roster."""


_JOINERS = "\u200c\u200d\u200e\u200f"
"""Unseen, and part of how names are written in Persian, Hindi, Arabic and Hebrew."""


def shown(name: object) -> str:
    """The name of a file or a student as any table, file or terminal takes it: what is no printable text is escaped.

    Names on Linux are bytes, and Python keeps those that are no UTF-8 as lone surrogates, which nothing can print or encode.
    """
    text = str(name).encode("utf-8", "surrogateescape" if _bytes_only(str(name)) else "backslashreplace")
    return "".join(
        one if one.isprintable() or one in _JOINERS else one.encode("unicode_escape").decode()
        for one in text.decode("utf-8", "backslashreplace")
    )


def _bytes_only(text: str) -> bool:
    """Whether its surrogates are those that stand for bytes; JSON and YAML may hold others."""
    return all("\udc80" <= one <= "\udcff" for one in text if "\ud800" <= one <= "\udfff")


def readable(text: str) -> str:
    """A message that may hold what a submission wrote: lines stay, and nothing in it is a terminal's code."""
    return "\n".join(map(shown, text.split("\n")))


def read(one: Submission, original: Mapping[str, Any], name: str) -> Submission:
    """`one` with its file read. `original` is the notebook as handed out, `name` the assignment's."""
    if one.problem or one.path is None:
        return one
    facts: dict[str, Any] = {}
    try:
        data = _bytes(one.path)
        stamp, clock = (one.timestamp, "") if one.timestamp else when(one.path)
        facts = {"digest": hashlib.sha256(data).hexdigest(), "timestamp": stamp, "clock": clock}
        made = _notebook(data)
        sections, answer, notes, tag = _look(made, original, name)
        facts["marked"] = _marked(made)
        facts["missing"] = tuple(name for name in wanted_sections(original) if name not in sections)
        return replace(one, sections=sections, answer=answer, notes=(*one.notes, *notes), tag=tag, **facts)
    except Unreadable as why:
        return replace(one, problem=str(why), **facts)
    except OSError as error:
        return replace(one, problem=f"the file could not be read: {error.strerror}", **facts)
    except Exception as error:  # a file can be malformed in ways that nobody thought of; the class goes on
        return replace(one, problem=f"the file is malformed ({type(error).__name__}: {error})"[:300], **facts)


class Unreadable(Exception):
    """Why a file cannot be graded."""


def _bytes(path: Path) -> bytes:
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode):
        raise Unreadable("it is no plain file")
    if found.st_size > MOST_BYTES:
        raise Unreadable(
            f"the file has {found.st_size / 2**20:.0f} MiB, more than {MOST_BYTES // 2**20}; clear its outputs"
        )
    return path.read_bytes()


def _notebook(data: bytes) -> dict[str, Any]:
    try:
        made = json.loads(data)
    except (ValueError, RecursionError):
        raise Unreadable("the file is not a notebook: it is not valid JSON") from None
    try:
        json.dumps(made, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        raise Unreadable("the file holds characters that are no text (lone surrogates, as of a half emoji)") from None
    if isinstance(made, dict) and "cells" not in made and isinstance(made.get("worksheets"), list):
        raise Unreadable(
            "the file is a notebook of format 3: it has no cells where those of format 4 have them; open it in JupyterLab "
            "and save it again"
        )
    if not isinstance(made, dict) or not isinstance(made.get("cells"), list):
        raise Unreadable("the file is not a notebook of format 4: it has no cells")
    return made


def _holds_text(one: object) -> bool:
    """Whether a cell's source is a text, or lines of one, as the format has it."""
    source = one.get("source") if isinstance(one, dict) else None
    return isinstance(source, str) or (isinstance(source, list) and all(isinstance(part, str) for part in source))


def cells_of(made: Mapping[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    """(kind, text, nbgrader's metadata) of each cell; whatever is malformed counts as empty."""
    found = []
    for one in made["cells"]:
        one = one if isinstance(one, dict) else {}
        text = one.get("source", "")
        text = "".join(part for part in text if isinstance(part, str)) if isinstance(text, list) else text
        metadata: Any = one.get("metadata") if isinstance(one.get("metadata"), dict) else {}
        grader = metadata.get("nbgrader") if isinstance(metadata.get("nbgrader"), dict) else {}
        found.append((str(one.get("cell_type")), text if isinstance(text, str) else "", grader))
    return found


def _look(made: dict[str, Any], original: Mapping[str, Any], name: str) -> tuple[dict[str, str], str, list[str], str]:
    """Sections, answer's cell, notes and variant. Raises Unreadable where it is not clear what would be graded."""
    about = made.get("metadata", {}).get("bugzoo", {}) if isinstance(made.get("metadata"), dict) else {}
    about = about if isinstance(about, dict) else {}
    wanted = original["metadata"]["bugzoo"]
    for word in ("assignment", "ticket") if "assignment" not in wanted else ("assignment",):
        if word in about and word in wanted and about[word] != wanted[word]:
            raise Unreadable(
                f"it is the notebook of another {word} ({str(about[word])[:60]!r}, {wanted[word]!r} was expected)"
            )
    cells, notes = cells_of(made), []
    usual = {grader["grade_id"]: (text, grader["grade"]) for _, text, grader in cells_of(original) if grader}
    answer = next((name for name, (_, graded) in usual.items() if not graded), "")
    ids = [str(grader["grade_id"]) for _, _, grader in cells if "grade_id" in grader]
    graders = {name: text for name, (text, graded) in usual.items() if graded}
    count = ids.count(answer)
    if (
        answer and count == 0 and any(name in ids for name in graders)
    ):  # else all metadata are gone, and it may be any cell
        notes.append(f"the cell {answer!r} is missing, and with it the answer, for nbgrader as well")
    elif answer and count == 0:
        raise Unreadable(f"the cell {answer!r} is missing; copy it, with its metadata, from the notebook as handed out")
    if count > 1:
        raise Unreadable(f"{count} cells say that they are {answer!r}, through copying or splitting; keep one of them")
    texts = {str(grader["grade_id"]): text for _, text, grader in cells if "grade_id" in grader}
    notes += filter(None, (_locked(ids.count(name), texts.get(name, ""), graders[name], name) for name in graders))
    usual_order = wanted_sections(original)
    sections = _sections([text for kind, text, _ in cells if kind == "code"], usual_order)
    there = [section for section in usual_order if section in sections]
    if len(there) < len(usual_order) and not all(map(_holds_text, made["cells"])):
        raise Unreadable("the program is not whole, and a cell holds something else than text")
    notes += [
        f"no cell begins with `%%program {section}`; its text counts as it was handed out, for nbgrader as well"
        for section in usual_order
        if section not in sections
    ]
    if list(sections) != there:
        notes.append("the program's cells stand in another order; they were put in theirs")
    if (language := _language(made)) not in ("", "python"):
        notes.append(f"the notebook says that it is for {shown(language)[:40]}; its program was read as Python")
    tag = about.get("variant", {}).get("tag", "") if isinstance(about.get("variant"), dict) else ""
    return {section: sections[section] for section in there}, texts.get(answer, ""), notes, str(tag)


def _marked(made: Mapping[str, Any]) -> bool:
    about = made["metadata"].get("bugzoo") if isinstance(made.get("metadata"), dict) else None
    return isinstance(about, dict) and bool(about.get("assignment") or about.get("exercise") or about.get("ticket"))


def _language(made: dict[str, Any]) -> str:
    """What the notebook's kernel speaks; empty where it does not say."""
    kernel = made["metadata"].get("kernelspec") if isinstance(made.get("metadata"), dict) else None
    return str(kernel.get("language") or "").lower() if isinstance(kernel, dict) else ""


def _locked(count: int, text: str, usual: str, name: str) -> str:
    """What is odd about one of the grader's own cells. It holds no work of the student's, so nothing depends on it."""
    if count == 0:
        return f"the graded cell {name!r} is missing; that does not count here (nbgrader gives no points for it)"
    if count > 1:
        return (
            f"{count} cells say that they are {name!r}; that does not count here (nbgrader would refuse the notebook)"
        )
    return "" if text.strip() == usual.strip() else f"the graded cell {name!r} was changed; that does not count"


def wanted_sections(original: Mapping[str, Any]) -> list[str]:
    """The sections that the program has as handed out, in their order."""
    return list(_found([text for kind, text, _ in cells_of(original) if kind == "code"]))


def _found(texts: list[str]) -> dict[str, str]:
    """Section -> text of every cell that is one, in the notebook's order."""
    found: dict[str, str] = {}
    for text in texts:
        match = _MAGIC.match(text)
        if not match:
            continue
        section, body = cell_name(match[1])[0], text[match.end() :]
        if section in found and found[section].strip() != body.strip():
            raise Unreadable(
                f"two cells begin with `%%program {section}` and differ; keep the one that counts (nbgrader takes the last)"
            )
        found[section] = body
    return found


def _sections(texts: list[str], wanted: list[str]) -> dict[str, str]:
    """Those of the wanted sections that have a cell, in the notebook's order."""
    found = {section: text for section, text in _found(texts).items() if section in wanted}
    if sum(map(len, found.values())) > MOST_PROGRAM:
        raise Unreadable(f"the program is longer than {MOST_PROGRAM // 2**20} MiB")
    return found


def when(path: Path) -> tuple[str, str]:
    """When it was handed in: nbgrader's timestamp.txt beside it, else the file's own time, which is then said."""
    noted = path.with_name("timestamp.txt")
    try:
        if noted.is_file() and not noted.is_symlink() and noted.stat().st_size < 200:
            line = noted.read_text(encoding="utf-8").strip().splitlines()[0]
            return (line if _DATE.match(line) else ""), ""
    except (OSError, ValueError, IndexError):
        pass
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(path.stat().st_mtime)), "file"
