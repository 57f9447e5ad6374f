"""A hunt for a machine: one JSON object a line in, one a line out, before the same judge that people have.

    {"do": "brief"}                                     what it is about, the files, the time left
    {"do": "read", "file": "train.py"}                  a file of the desk
    {"do": "write", "file": "train.py", "text": "..."}  replaces it, and is kept as a save
    {"do": "run", "seconds": 60}                        runs train.py: exit code and the end of what it printed
    {"do": "check"}                                     the public bar, pass or fail
    {"do": "done", "findings": "..."}                   hands in; the score, without the names of the bugs

An answer has "ok"; where that is false, "error" says what was wrong and nothing happened. No more input is handing in as well.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from bugzoo.errors import UserError
from bugzoo.interview.hunt import desk, sitting
from bugzoo.interview.hunt.case import Case
from bugzoo.interview.hunt.score import Score, hand_in

FILES = (desk.SCRIPT, desk.FINDINGS, desk.BRIEF)
LONGEST = 300.0
TOLD = 8000
"""Characters of what a run printed that are handed on: the last ones."""
MOST_LINE = 4 * 2**20


class Desk:
    """One sitting of a machine, in a folder of its own."""

    def __init__(self, case: Case, folder: Path, name: str = "agent") -> None:
        self.case, self.folder = case, sitting.sit(case, folder, name)
        self.score: Score | None = None

    def answer(self, asked: Any) -> dict[str, Any]:
        """What comes back for one request."""
        does = {name: getattr(self, f"_{name}") for name in ("brief", "read", "write", "run", "check", "done")}
        try:
            if not isinstance(asked, dict) or asked.get("do") not in does:
                raise UserError(f'a request is an object such as {{"do": "brief"}}; "do" is {", ".join(does)}')
            if self.score is not None:
                raise UserError("the hunt is handed in")
            if asked["do"] not in ("done", "brief") and not desk.left(self.folder):
                raise UserError('the time is over; {"do": "done"} hands in what was saved')
            with sitting.told():
                return {"ok": True} | does[asked["do"]](asked)
        except UserError as error:
            return {"ok": False, "error": str(error)}

    def _brief(self, asked: dict[str, Any]) -> dict[str, Any]:
        return {"brief": self.case.brief, "files": list(FILES), "seconds_left": round(desk.left(self.folder))}

    def _read(self, asked: dict[str, Any]) -> dict[str, Any]:
        file = self._file(asked)
        try:
            return {"text": file.read_text(encoding="utf-8", errors="replace")[: desk.MOST]}
        except OSError as error:
            raise UserError(f"{file.name} cannot be read: {error.strerror}") from None

    def _write(self, asked: dict[str, Any]) -> dict[str, Any]:
        file, text = self._file(asked), asked.get("text")
        if not isinstance(text, str) or len(text) > desk.MOST:
            raise UserError(f'"text" is a string of at most {desk.MOST} characters')
        try:
            file.write_text(text, encoding="utf-8")
        except (OSError, UnicodeEncodeError) as error:
            raise UserError(f"{file.name} could not be written: {error}") from None
        return {"save": desk.save(self.folder)[:12]}

    def _run(self, asked: dict[str, Any]) -> dict[str, Any]:
        seconds = asked.get("seconds", 60)
        if not isinstance(seconds, int | float) or not 0 < seconds <= LONGEST:
            raise UserError(f'"seconds" is a number above 0, up to {LONGEST:g}')
        return {"text": "", "exit": None, **printed(self.folder, min(seconds, desk.left(self.folder)))}

    def _check(self, asked: dict[str, Any]) -> dict[str, Any]:
        found = desk.check(self.folder, LONGEST)
        return {"passed": found["passed"], "saw": found["saw"]}

    def _done(self, asked: dict[str, Any]) -> dict[str, Any]:
        if isinstance(notes := asked.get("findings"), str):
            (self.folder / desk.FINDINGS).write_text(notes[: desk.MOST], encoding="utf-8", errors="replace")
        desk.done(self.folder)
        self.score = hand_in(self.case, self.folder)
        rows = {row.name: row.points for row in self.score.rows}
        return {"points": self.score.points, "of": self.score.of, "rows": rows}

    def _file(self, asked: dict[str, Any]) -> Path:
        if asked.get("file") not in FILES:
            raise UserError(f'"file" is {", ".join(FILES)}')
        return self.folder / asked["file"]


def printed(folder: Path, seconds: float) -> dict[str, Any]:
    """Run the script as it is: {"exit", "text"}; `exit` is None where it was ended for its time."""
    child = subprocess.Popen(
        [sys.executable, desk.SCRIPT],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    with desk.Tail(child.stdout, 4 * TOLD) as tail:
        code = desk.ended(child, seconds)
    return {"exit": code, "text": tail.text()[-TOLD:]}


def serve(case: Case, lines: Iterable[str], folder: Path | None = None) -> Iterator[dict[str, Any]]:
    """An answer for each line; behind the last one the score, where nothing was handed in."""
    with tempfile.TemporaryDirectory(prefix="hunt-") as place:
        sitting_at = Desk(case, folder or Path(place) / "desk")
        for line in lines:
            if not line.strip():
                continue
            try:
                asked = json.loads(line) if len(line) <= MOST_LINE else None
            except (ValueError, RecursionError):
                asked = None
            yield sitting_at.answer(asked)
            if sitting_at.score is not None:
                return
        yield sitting_at.answer({"do": "done"})
