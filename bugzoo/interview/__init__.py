"""The interview: five minutes, a script that does not train as it should, and a price on every view of its run."""

import contextlib
import random
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from bugzoo import record
from bugzoo.errors import UserError

if TYPE_CHECKING:  # these take seconds to import, and a wrong argument needs none of them
    from bugzoo.interview.play import Say

LONGEST = 240
"""Minutes."""


def interview(
    minutes: float = 5,
    seed: int | None = None,
    folder: Path | None = None,
    stream: TextIO | None = None,
    say: "Say" = print,
    only: str | None = None,
) -> dict[str, Any]:
    """Run one interview over `stream` (stdin) and return its report, which is also stored in the record.

    Ctrl-C ends it as abandoned and raises KeyboardInterrupt once the report is stored. The folder stays as it is.
    """
    if not 0 < minutes <= LONGEST:
        raise UserError(f"--minutes {minutes:g} is not allowed. Give a number above 0, up to {LONGEST}.")
    from bugzoo.interview import debrief
    from bugzoo.interview.deck import draw
    from bugzoo.interview.evidence import collect
    from bugzoo.interview.lines import Lines
    from bugzoo.interview.play import Talk, edit
    from bugzoo.interview.repair import grade
    from bugzoo.interview.session import Session, brief, open_folder

    seed = random.SystemRandom().randrange(1_000_000) if seed is None else seed
    case = draw(seed, only)
    folder = folder or Path(f"interview-{case.ticket}")
    record.interviews()  # report a broken record before anything is written
    script = open_folder(case, folder, minutes)
    try:
        number = record.start_interview(case.ticket, seed, minutes, folder.resolve())
    except BaseException:  # the record can be read but not written
        shutil.rmtree(folder, ignore_errors=True)
        raise
    lines: Any = stream or sys.stdin
    session, status = None, "abandoned"
    result: dict[str, Any] = {}
    try:
        say(brief(case, minutes))
        say(f"The script: {script.resolve()}\nIt runs once to collect the evidence. Your time starts after that ...")
        evidence = collect(case.scenario)
        session = Session(case, evidence, script, minutes, grade)
        if lines.isatty():
            edit(script, say)
        status = Talk(session, Lines(lines), say).run()
    finally:
        with _undisturbed():
            if session is None:
                record.end_interview(number, "abandoned", {"status": "abandoned", "ticket": case.ticket, "seed": seed})
            else:
                result = session.close(status)
                record.end_interview(number, status, result)
    debrief.show(result, say)
    return result


def history() -> list[dict[str, Any]]:
    """Return all interviews of the record, oldest first."""
    return record.interviews()


def taken(folder: Path) -> UserError:
    """Return the error for a folder that already exists."""
    return UserError(f"{folder} already exists. Choose another folder with --folder, or move it away.")


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Delay a second Ctrl-C until the record is written."""
    try:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    except ValueError:  # not the main thread: it gets no Ctrl-C
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
