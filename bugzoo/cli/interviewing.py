"""`interview`: five minutes, an unknown fault, a score and a debrief."""

import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from bugzoo.cli import app
from bugzoo.cli.arguments import finite, place, seed_option
from bugzoo.cli.output import emit, json_option, table
from bugzoo.errors import UserError
from bugzoo.files import check_place


@app.command()
def interview(
    context: typer.Context,
    minutes: Annotated[float, typer.Option(help="Your time; collecting the evidence is not part of it.")] = 5,
    seed: Annotated[int | None, seed_option("The same seed draws the same case; drawn at random else.")] = None,
    folder: Annotated[
        Path | None,
        typer.Option(metavar="DIR", parser=place, help="Where the script goes; interview-TICKET when left out."),
    ] = None,
    level: Annotated[int | None, typer.Option(min=1, max=5, help="Only cases of this level, 1 to 5.")] = None,
    family: Annotated[str | None, typer.Option(metavar="FAMILY", help="Only of this family of faults.")] = None,
    program: Annotated[str | None, typer.Option(metavar="PROGRAM", help="Only on this program.")] = None,
    for_interviewer: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json",
            parser=place,
            help="Write report, answer and debrief to this file; the candidate sees the points alone.",
        ),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an interview that was killed.")] = False,
    past: Annotated[bool, typer.Option("--history", help="Show past interviews.")] = False,
    json: Annotated[str | None, json_option()] = None,
) -> None:
    """Draw a case, look at evidence at a price, name the cause, hand in a repair, and be scored.

    The commands are read line by line from stdin, so that a session can be a file:

    - a number asks for that piece of evidence
    - `diagnose` is followed by five lines: cause in your own words (`?` shows the list, from which a cause is worth half),
      how sure you are (0 to 100), line in the script, evidence (its number), test (its number; asked when the cause was
      right and has look-alikes). Where your words can mean several causes, you are asked which
    - `submit [FILE]` hands in the repaired script, `done` ends, `quit` gives up

    A working repair counts most. Evidence that was not needed costs points, and so do `checkup`, `source` and `show` while a
    case is open: they say so. A case may be healthy whatever level or family you ask for.

    With `--json` the conversation goes to stderr and the report, one object, to stdout.

    Examples:

    - `bugzoo interview --minutes 5 --seed 3`
    - `bugzoo interview --seed 3 --json < answers.txt`
    - `bugzoo interview --level 2 --family loss --program mlp`
    - `bugzoo interview --for-interviewer report.json`
    - `bugzoo interview --history`
    """
    from bugzoo import interview as room
    from bugzoo import record

    if past:
        rows = record.interviews()
        if json:
            emit(rows, json)
            return
        lines = [
            [
                time.strftime("%Y-%m-%d %H:%M", time.localtime(row["started"])),
                row["ticket"],
                str(row["seed"]),
                row["status"],
                "-" if row["points"] is None else f"{row['points']:g}/{row['possible']:g}",
                row["folder"],
            ]
            for row in rows
        ]
        table(["started", "ticket", "seed", "ended", "points", "folder"], lines, f"{len(lines)} interviews")
        return
    finite("--minutes", minutes, 0, room.LONGEST)
    if "stdin" in (context.obj or {}).get("closed", ()):
        raise UserError("stdin is closed, and an interview reads its commands there. Leave `<&-` out.")
    say = partial(print, file=sys.stderr) if json == "-" else print
    if resume:
        given = (seed, folder, level, family, program, for_interviewer)
        if any(one is not None for one in given) or minutes != 5:
            raise UserError(
                "--resume goes on with the case that was begun, under what was said then; leave the rest out."
            )
        result = room.resume(say=say)
        if json:
            emit(result, json)
        return
    if for_interviewer is not None:
        check_place(for_interviewer)
    if folder is not None and os.path.lexists(folder):
        raise room.taken(folder)
    wish = None
    if (level, family, program) != (None, None, None):
        from bugzoo.interview.deck import Wish

        wish = Wish(level, family, program)
    result = room.interview(minutes, seed, folder, say=say, wish=wish, for_interviewer=for_interviewer)
    if json:
        emit(result, json)
