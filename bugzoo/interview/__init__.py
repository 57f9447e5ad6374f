"""Five minutes, a script that does not train as it should, and a price on every look."""

import contextlib
import json
import random
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from bugzoo import record, seeds, sittings
from bugzoo.errors import UserError
from bugzoo.files import write_atomic
from bugzoo.plain import plain

if TYPE_CHECKING:  # what is behind these takes seconds to import, and a wrong argument needs none of it
    from bugzoo.interview.deck import Case, Wish
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
    program: str | None = None,
    wish: "Wish | None" = None,
    for_interviewer: Path | None = None,
) -> dict[str, Any]:
    """Hold one interview over `stream` (stdin) and return its report, which is in the record by then as well.

    `only` (a fault's id) and `program` fix the case, `wish` narrows what is drawn. With `for_interviewer` the whole report goes
    into that file, and what is shown, returned and recorded has the points alone. Ctrl-C ends it as abandoned and raises
    KeyboardInterrupt once the report is stored; the folder stays as it is.
    """
    if not 0 < minutes <= LONGEST:
        raise UserError(f"--minutes {minutes:g} is not allowed; it is a number above 0, up to {LONGEST}.")
    seed = random.SystemRandom().randrange(1_000_000) if seed is None else seed
    seeds.check(seed)
    from bugzoo.interview.deck import draw
    from bugzoo.interview.session import brief, open_folder

    case = draw(seed, only, program, wish)
    folder = folder or Path(f"interview-{case.ticket}")
    record.interviews()  # a record that cannot be used is told before anything is written
    script = open_folder(case, folder, minutes)
    try:
        number = record.start_interview(case.ticket, seed, minutes, folder.resolve())
        sitting = sittings.begin(
            number, ticket=case.ticket, seed=seed, minutes=minutes, started=time.time(), folder=str(folder.resolve()),
            drawn=_sealed(number, case.fault.id), program=case.scenario.program, script=case.scenario.source,
            for_interviewer=str(for_interviewer.resolve()) if for_interviewer else "",
        )  # fmt: skip
    except BaseException:  # a record that can be read and not be written
        shutil.rmtree(folder, ignore_errors=True)
        raise
    say(brief(case, minutes))
    say(f"The script: {script.resolve()}\nIt is run once to collect the evidence; your time starts after that ...")
    return _held(sitting, case, stream or sys.stdin, say)


def resume(stream: TextIO | None = None, say: "Say" = print) -> dict[str, Any]:
    """Go on with the interview that was killed last; its clock has gone on. Raises UserError where there is none."""
    waiting = sittings.open_ones()
    if not waiting:
        raise UserError("No interview is open. `bugzoo interview` begins one, --history shows the past ones.")
    from bugzoo import faults
    from bugzoo.interview.deck import draw
    from bugzoo.interview.session import brief

    sitting = waiting[-1]
    about = sitting.about
    only = next((name for name in faults.catalogue() if _sealed(sitting.number, name) == about.get("drawn")), None)
    if only is None:
        raise UserError(f"Case {about['ticket']} was drawn by another bugzoo, and this one cannot go on with it.")
    case = draw(about["seed"], only, about["program"])
    say(brief(case, about["minutes"]))
    say(f"The script: {about['folder']}\nIt is run again to collect the evidence, which costs no time ...")
    return _held(sitting, case, stream or sys.stdin, say)


def _sealed(number: int, fault: str) -> str:
    """A fault's id as the file of an open interview holds it: whoever looks into it is told nothing."""
    return sha256(f"{number} {fault}".encode()).hexdigest()


def _gone(sitting: sittings.Sitting) -> tuple[list[dict[str, Any]], float | None]:
    """(what happened so far, seconds of the candidate's time that are gone); None: the clock had not begun."""
    lines = sitting.lines()
    begun = [one["at"] for one in lines if one.get("event") == "begun"]
    events = [one for one in lines if "seconds" in one and "event" in one]
    if not begun:
        return events, None
    waited = sum(one.get("waited", 0.0) for one in events)
    # a clock that was set back does not give time away
    return events, max(time.time() - begun[0] - waited, *(one["seconds"] for one in events), 0.0)


def _held(sitting: sittings.Sitting, case: "Case", lines: Any, say: "Say") -> dict[str, Any]:
    """The interview from its evidence on, begun or resumed; its report."""
    from bugzoo.interview.evidence import SCRIPT, collect
    from bugzoo.interview.lines import Lines
    from bugzoo.interview.play import Talk, debrief, edit, for_candidate
    from bugzoo.interview.repair import grade
    from bugzoo.interview.session import Session

    about = sitting.about
    script, place = Path(about["folder"]) / SCRIPT, about.get("for_interviewer", "")
    session, status = None, "abandoned"
    result: dict[str, Any] = {"status": "abandoned", "ticket": case.ticket, "seed": case.seed}
    with sitting.held():
        events, gone = _gone(sitting)
        try:
            evidence = collect(case.scenario)
            session = Session(case, evidence, script, about["minutes"], grade, log=sitting.note)
            if gone is None:
                sitting.note(event="begun", at=time.time())
            else:
                session.again(events, gone)
            if gone is None and lines.isatty():
                edit(script, say)
            status = Talk(session, Lines(lines), say, lambda: _outside(sitting)).run()
        finally:
            with _undisturbed():
                if session is not None:
                    session.evidence.asked_outside(_outside(sitting))
                    result = session.close(status)
                if place:
                    write_atomic(place, json.dumps(plain(result), indent=2) + "\n")
                    result = for_candidate(result)
                record.end_interview(sitting.number, status, result)
                sitting.end()
    debrief(result, say)
    return result


def _outside(sitting: sittings.Sitting) -> list[str]:
    return [
        one["kind"] for one in sitting.lines() if one.get("event") == "outside" and one.get("kind") in sittings.HELP
    ]


def taken(folder: Path) -> UserError:
    """What is said of a folder that is there already."""
    return UserError(f"{folder} exists; name another folder with --folder, or move it away.")


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """A second Ctrl-C waits until the record is written."""
    try:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    except ValueError:  # not the main thread: Ctrl-C does not come here
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
