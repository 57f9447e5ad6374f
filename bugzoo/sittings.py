"""Interviews that are open: a file each in the record's folder, one line for everything that happens, as it happens.

`open/7.jsonl` belongs to interview 7 of the record. Its first line says what was drawn; after kill -9 the lines are the way
back in. Other commands add a line when they are asked about the case: that counts as evidence, and they say so.
"""

import contextlib
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bugzoo import record
from bugzoo.errors import UserError

HELP = {"checkup": 24, "source": 20, "show": 4}
"""Command -> points of the evidence budget that it costs while a case is open."""
LATE = 3600.0
"""Seconds after the end of its time at which an interview that nobody came back to is over."""
ALIKE = 0.5
"""A file that shares this part of its lines with the handed-out script is the case, wherever it lies."""


@dataclass(frozen=True)
class Sitting:
    """One open interview."""

    path: Path

    @property
    def number(self) -> int:
        return int(self.path.stem)

    def note(self, **what: Any) -> None:
        """Add a line. It begins with a line's end, so that one that was cut off spoils none but itself. Raises UserError."""
        try:
            with open(self.path, "ab", buffering=0) as file:
                file.write(f"\n{json.dumps(what)}\n".encode())
        except OSError as error:
            raise UserError(
                f"{self.path} cannot be written: {error.strerror}. Name another folder with $BUGZOO_DATA."
            ) from None

    def lines(self) -> list[dict[str, Any]]:
        """What stands in it, without what was cut off."""
        found = []
        with contextlib.suppress(OSError):
            for text in self.path.read_text(encoding="utf-8", errors="replace").splitlines():
                with contextlib.suppress(ValueError):
                    found.append(json.loads(text))
        return [one for one in found if isinstance(one, dict)]

    @property
    def about(self) -> dict[str, Any]:
        """The first line: {"ticket", "seed", "minutes", "started", "folder", ...}; {} where it is not whole."""
        first = next(iter(self.lines()), {})
        return first if {"ticket", "seed", "minutes", "started", "folder"} <= first.keys() else {}

    def end(self) -> None:
        """It is over: its report stands in the record."""
        self.path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Nobody else can hold it meanwhile; after kill -9 it is free again. Raises UserError where somebody does."""
        try:
            import fcntl
        except ImportError:  # Windows
            yield
            return
        with open(self.path, "rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise UserError(
                    f"Case {self.about.get('ticket', self.number)} is being played in another terminal; go on there."
                ) from None
            yield


def _folder() -> Path:
    return record.folder() / "open"


def begin(number: int, **about: Any) -> Sitting:
    """The file of interview `number`, with its first line. Raises UserError."""
    sitting = Sitting(_folder() / f"{number}.jsonl")
    try:
        sitting.path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{sitting.path.parent} could not be made: {error.strerror}.") from None
    sitting.note(**about)
    return sitting


def open_ones() -> list[Sitting]:
    """Those whose time is not long over, the latest last; whether they are being played or were killed."""
    with contextlib.suppress(OSError):
        files = [Sitting(file) for file in _folder().glob("*.jsonl") if file.stem.isdigit()]
        found = [(one, one.about) for one in sorted(files, key=lambda one: one.number)]
        return [one for one, about in found if about and time.time() < about["started"] + 60 * about["minutes"] + LATE]
    return []


def count(kind: str, file: Path | None = None) -> None:
    """Somebody asks `kind` of HELP while a case is open, about `file` where that is given: noted, and said on stderr."""
    for one in open_ones():
        about = one.about
        if file is not None and not _is_case(file, about):
            continue
        with contextlib.suppress(UserError):
            one.note(event="outside", kind=kind, at=time.time())
            print(
                f"bugzoo: case {about['ticket']} is open: this look counts as evidence and costs {HELP[kind]} points. "
                "`bugzoo interview --resume` goes back to it.",
                file=sys.stderr,
            )


def _is_case(file: Path, about: dict[str, Any]) -> bool:
    """Is a file that somebody has examined the script of a case, or a copy of it?"""
    with contextlib.suppress(OSError, ValueError):
        if Path(about["folder"]).resolve() in file.resolve().parents:
            return True
        lines = {
            line.strip() for line in file.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()
        }
        case = {line.strip() for line in str(about.get("script", "")).splitlines() if line.strip()}
        return bool(lines and case) and len(lines & case) >= ALIKE * min(len(lines), len(case))
    return False
