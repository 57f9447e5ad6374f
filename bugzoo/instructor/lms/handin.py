"""One student's hand-in as an LMS tells of it: who, and which of the files is the notebook."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from bugzoo.instructor.lms.tree import File
from bugzoo.instructor.submission import shown

NOTEBOOK = ".ipynb"
WORK = (".py", ".zip", ".7z", ".rar", ".tar", ".gz", ".tgz", ".html", ".htm", ".pdf", ".json", ".docx", ".txt", ".url")
"""What students hand in for a notebook: named, and not looked at."""
_OWN = ("timestamp.txt", "submission_metadata.yml")
_AGAIN = re.compile(r"(-\d+| ?\(\d+\))$")
"""What Canvas and browsers append to a name that was there before."""


@dataclass(frozen=True)
class Who:
    """What a system says about whoever handed in."""

    names: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    """Ids, logins: whatever a roster may call the student."""
    email: str = ""
    numbers: tuple[tuple[str, str], ...] = ()
    """(system, its own number of the student)."""
    squashed: str = ""
    """Canvas's way: last and first name in small letters, with nothing between them."""
    sure: bool = False
    """`ids` is the student's login as a system writes it: it is nobody else's."""


@dataclass(frozen=True)
class HandIn:
    """`label` names it where nobody on the roster fits; `place` is the folder or number that the system knows it by."""

    label: str
    who: Who
    file: File | None = None
    problem: str = ""
    notes: tuple[str, ...] = field(default_factory=tuple)
    timestamp: str = ""
    place: str = ""


def choose(files: Sequence[tuple[str, File]], name: str) -> tuple[File | None, str, tuple[str, ...]]:
    """(the notebook, why there is none, notes) of one student's files, each with the name that the student gave it.

    One that is called as the assignment is preferred, then the only one.
    """
    books = [(own, file) for own, file in files if file.suffix == NOTEBOOK]
    others = [own for own, file in files if file.suffix != NOTEBOOK and file.name not in _OWN]
    work = [own for own in others if own.lower().endswith(WORK)]
    notes = (f"also handed in, and not looked at: {_list(work)}",) if work and books else ()
    usable = [one for one in books if not one[1].problem]
    called = [one for one in usable if _stem(one[0]) == name] or [
        one for one in usable if _AGAIN.sub("", _stem(one[0])).casefold() == name.casefold()
    ]
    chosen = called or usable
    if not chosen and books:
        return None, f"{shown(books[0][0])}: {books[0][1].problem}", notes
    if not chosen:
        there = f"; there {'is' if len(others) == 1 else 'are'} {_list(others)}" if others else ""
        return None, f"there is no notebook {name}.ipynb{there}", notes
    if len(chosen) > 1:
        return (
            None,
            f"there are several notebooks ({_list([own for own, _ in chosen])}) and none is to be preferred",
            notes,
        )
    return chosen[0][1], "", notes


def _stem(name: str) -> str:
    name = name.replace("\\", "/").rsplit("/", 1)[-1]
    return name[: -len(NOTEBOOK)] if name.lower().endswith(NOTEBOOK) else name


def _list(names: Sequence[str], most: int = 4) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(shown(one)[:80] for one in names[:most]) + more
