"""Hand-ins that come in: the folder `submitted/`, a notebook or an LMS's zip through the page. Nothing of them runs here.

No name that somebody chose becomes a name on this disk; what is not read is said, with the reason.
"""

import hashlib
import json
import os
import stat
import tempfile
import zipfile
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from bugzoo.errors import UserError
from bugzoo.instructor import folder as files
from bugzoo.instructor.lms import intake
from bugzoo.instructor.lms.handin import NOTEBOOK, HandIn, Who
from bugzoo.instructor.lms.intake import Handed
from bugzoo.instructor.lms.tree import File
from bugzoo.instructor.serve.store import HandIn as Row
from bugzoo.instructor.serve.store import Store
from bugzoo.instructor.submission import MOST_BYTES, Submission, shown, when

SUBMITTED = "submitted"
MOST_LINES = 8
"""So many of a kind are named on the page; the rest is counted."""


@dataclass
class Taken:
    """What became of it."""

    new: int = 0
    known: int = 0
    problems: list[str] = field(default_factory=list)
    unmatched: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """For people."""
        said = [f"{self.new} new hand-in{'' if self.new == 1 else 's'}, {self.known} known already."]
        for words, names in (
            ("cannot be graded", self.problems), ("belongs to nobody yet", self.unmatched), ("left aside", self.left)
        ):  # fmt: skip
            said += [f"{words}: {one}" for one in names[:MOST_LINES]]
            said += [f"{words}: {len(names) - MOST_LINES} more"] if len(names) > MOST_LINES else []
        return said


class Desk:
    """Takes hand-ins of one assignment's folder; used in a thread of its own, with a store of its own."""

    def __init__(self, folder: Path, by: str) -> None:
        self.folder, self.by = folder, by
        self.name: str = files.key(folder)["assignment"]
        self.people = files.manifest(folder).get("students", {})

    def read_submitted(self) -> Taken:
        """Everything in `submitted/` beside the key. Raises UserError where there is none."""
        place = self.folder / SUBMITTED
        if not place.is_dir():
            raise UserError(f"There is no folder {place}. Put the hand-ins there, or upload them.")
        return self._all(place, SUBMITTED, "folder")

    def upload(self, name: str, data: bytes, student: str = "") -> Taken:
        """One uploaded file: a notebook, of `student` or of whoever its name tells, or an LMS's zip. Raises UserError."""
        told = shown(name.replace("\\", "/").rsplit("/", 1)[-1])[:120] or "a file without a name"
        if not data:
            raise UserError(f"{told} is empty.")
        with tempfile.TemporaryDirectory(prefix="bugzoo-upload-") as place:
            path = Path(place) / "upload"
            path.write_bytes(data)
            if zipfile.is_zipfile(path):
                if student:
                    raise UserError(f"{told} is a zip: its names tell whose is what. Leave the student out.")
                return self._all(path, told, "upload")
            if not told.lower().endswith(NOTEBOOK):
                raise UserError(f"{told} is no notebook (.ipynb) and no zip. Nothing was taken of it.")
            stem = told[: -len(NOTEBOOK)]
            file = File((told,), path)
            if student:
                by_hand = Submission(student, path, handed=told, matched=f"by hand ({shown(self.by)})")
                handed = Handed(found=[by_hand])
            else:
                handed = intake.matched([HandIn(stem, Who((stem,), (stem,)), file)], self.people)
            return self._keep(handed, "", told, "upload")

    def _all(self, source: Path, told: str, kind: str) -> Taken:
        try:
            with intake.gathered(source, self.name, self.people) as handed:
                if not handed.found:
                    raise UserError(f"{told} holds no hand-in: no folder of a student and no .ipynb file.")
                return self._keep(handed, shown(source), told, kind)
        except UserError as error:
            raise UserError(str(error).replace(str(source), told)) from None

    def _keep(self, handed: Handed, source: str, told: str, kind: str) -> Taken:
        taken = Taken(left=[str(one) for one in handed.left])
        with Store.open(self.folder) as store:
            for one in handed.found:
                row, data = _row(one, handed, kind)
                row = replace(row, file=told + row.file.removeprefix(source) if source else row.file)
                if not store.take(row, data, self.by):
                    taken.known += 1
                    continue
                taken.new += 1
                taken.problems += [f"{one.student}: {row.problem}"] if row.problem else []
                taken.unmatched += [f"{one.student}: {row.unmatched}"] if row.unmatched else []
            with store.writing():
                store.note(self.by, "hand-ins read", f"{told}: {taken.new} new, {taken.known} known")
        return taken


def _row(one: Submission, handed: Handed, kind: str) -> tuple[Row, bytes | None]:
    data, problem = (None, one.problem) if one.problem or one.path is None else _bytes(one.path)
    stamp = one.timestamp or (when(one.path)[0] if one.path and not problem and kind == "folder" else "")
    who = asdict(handed.who[one.student]) if one.student in handed.who else {}
    row = Row(
        one.student, one.student, kind, hashlib.sha256(data).hexdigest() if data is not None else "", len(data or b""),
        shown(one.handed), stamp, problem, json.dumps(one.notes), shown(one.place), one.matched, one.unmatched, json.dumps(who),
    )  # fmt: skip
    return row, data


def _bytes(path: Path) -> tuple[bytes | None, str]:
    """(the file, "") or (None, why it is not read). It may be exchanged for something else while we look."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return None, "it is no plain file"
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        return None, f"the file could not be read: {error.strerror}"
    if len(data) > MOST_BYTES:
        return None, f"the file has more than {MOST_BYTES // 2**20} MiB; clear its outputs"
    return data, ""
