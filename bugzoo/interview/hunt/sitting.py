"""A candidate's folder: what lies in it at the beginning, with the answers nowhere in it."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bugzoo.errors import UserError
from bugzoo.files import write_atomic
from bugzoo.interview.hunt import desk
from bugzoo.interview.hunt.case import Case

STARTED = """\
# Findings

<!-- One paragraph for each thing that is wrong, in your own words: what it is, in which line of train.py, how you know, and what
you changed. A paragraph about something that is right costs a little. -->
"""


@contextmanager
def told() -> Iterator[None]:
    """What the desk calls a mistake is a user's mistake here."""
    try:
        yield
    except desk.Mistake as mistake:
        raise UserError(str(mistake)) from None


def lay(case: Case, folder: Path, candidate: str = "", *, with_desk: bool = True) -> Path:
    """Write a candidate's folder; its clock does not run yet. All of it or nothing. Raises UserError where there is one."""
    if shutil.which("git") is None:
        raise UserError("git was not found, and a hunt keeps every save with it. Install git.")
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise UserError(
            f"{folder} exists; name another folder, or move it away. `bugzoo hunt resume {folder}` goes on with a hunt."
        ) from None
    except OSError as error:
        raise UserError(f"{folder} could not be made: {error.strerror}. Name another one.") from None
    about = {"ticket": case.ticket, "case": case.hash, "minutes": case.minutes, "bar": case.bar, "candidate": candidate}
    try:
        write_atomic(folder / desk.SCRIPT, case.source)
        write_atomic(folder / desk.BRIEF, case.brief)
        write_atomic(folder / desk.FINDINGS, STARTED)
        write_atomic(folder / desk.STATE, json.dumps(about, indent=1) + "\n")
        if with_desk:
            write_atomic(folder / "hunt.py", Path(desk.__file__).read_text(encoding="utf-8"))
    except BaseException:  # a full disk, a Ctrl-C
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


def sit(case: Case, folder: Path, candidate: str = "") -> Path:
    """Lay the folder and start its clock."""
    lay(case, folder, candidate)
    with told():
        desk.begin(folder)
    return folder


def of(case: Case, folder: Path) -> None:
    """Raises UserError where a folder belongs to another case, or never began."""
    with told():
        about = desk.state(folder)
    if about.get("case") != case.hash:
        raise UserError(f"{folder} belongs to the hunt {about['ticket']}, and the case file is that of {case.ticket}.")
    if not (folder / desk.HOME).is_dir():
        raise UserError(f"{folder} was never begun: nothing was kept in it. `bugzoo hunt resume {folder}` begins.")
