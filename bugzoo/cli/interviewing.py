"""`interview`: five minutes to find an unknown fault, then a score and a debrief."""

import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from bugzoo.cli import app
from bugzoo.cli.arguments import finite, path_option, seed_option
from bugzoo.cli.output import Json, emit, table
from bugzoo.errors import UserError


@app.command()
def interview(
    context: typer.Context,
    minutes: Annotated[float, typer.Option(help="Your time limit. Collecting the evidence does not count.")] = 5,
    seed: Annotated[int | None, seed_option("The same seed draws the same case. Default: a random case.")] = None,
    folder: Annotated[Path | None, path_option("DIR", "The folder for the script. Default: interview-TICKET.")] = None,
    past: Annotated[bool, typer.Option("--history", help="Show past interviews.")] = False,
    json: Json = None,
) -> None:
    """Find an unknown fault against the clock: buy evidence, name the cause, submit a fix, get a score.

    Commands are read line by line from stdin, so a session can also come from a file:

    - a number or a name (`gradients`) asks for that view of the run; `look batch 50` shows the batch of step 50
    - `more NAME` goes on with a view that is longer than a screen, `list` lists the views
    - `diagnose` is followed by four lines: cause (its number), line in the script, evidence (number or name), test
      (its number, only asked when the cause is right and has look-alikes)
    - `submit [FILE]` submits the repaired script, `done` ends, `quit` gives up

    With `--json` the conversation goes to stderr and the report, one object, to stdout.

    Examples:

    - `bugzoo interview --minutes 5 --seed 3`
    - `bugzoo interview --seed 3 --json < answers.txt`
    - `bugzoo interview --history`
    """
    from bugzoo import interview as room

    if past:
        rows = room.history()
        if json:
            emit(rows, json)
            return
        lines = []
        for row in rows:
            started = time.strftime("%Y-%m-%d %H:%M", time.localtime(row["started"]))
            points = "-" if row["points"] is None else f"{row['points']:g}/{row['possible']:g}"
            lines.append([started, row["ticket"], str(row["seed"]), row["status"], points, row["folder"]])
        table(["started", "ticket", "seed", "ended", "points", "folder"], lines, f"{len(lines)} interviews")
        return
    finite("--minutes", minutes, 0, room.LONGEST)
    if "stdin" in (context.obj or {}).get("closed", ()):
        raise UserError("stdin is closed, but an interview reads its commands from it. Leave `<&-` out.")
    if folder is not None and os.path.lexists(folder):
        raise room.taken(folder)
    say = partial(print, file=sys.stderr) if json == "-" else print
    result = room.interview(minutes, seed, folder, say=say)
    if json:
        emit(result, json)
