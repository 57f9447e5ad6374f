"""`bug-report`: a folder that somebody else can act on."""

from pathlib import Path
from typing import Annotated

import typer

from bugzoo.cli import app
from bugzoo.cli.arguments import finite, place
from bugzoo.cli.output import emit, json_option, shorter


@app.command(name="bug-report", context_settings={"allow_extra_args": True})
def bug_report(
    context: typer.Context,
    target: Annotated[
        Path, typer.Argument(metavar="TARGET.py", parser=place, help="A training script in which something is wrong.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="Written; it must not be there yet.")
    ] = Path("bug_report"),
    seconds: Annotated[float, typer.Option(help="End the script after so long; judge what was seen until then.")] = 60,
    budget: Annotated[float, typer.Option(help="Seconds for looking for a shorter script.")] = 300,
    json: Annotated[str | None, json_option()] = None,
) -> None:
    """Write a bug report: the shortest script that still shows it, what was seen, versions, settings, data, revision.

    The script is run by `checkup`; then shorter and shorter ones are run, each in a process of its own, as long as they show the
    same first suspect at the same statement, or the same error. Ctrl-C ends the search, and no folder is written. What the script
    itself writes is thrown away, as under `checkup`.

    Examples:

    - `bugzoo bug-report train.py -o report`
    - `bugzoo bug-report --seconds 20 --budget 600 train.py -o report -- --epochs 2`
    """
    finite("--seconds", seconds, 0)
    finite("--budget", budget, 0)
    from bugzoo.diagnostics.checkup import read

    read(target)  # a file that is no script is told before torch is loaded
    from bugzoo.diagnostics.bug_report import bug_report as write

    with shorter(json) as told:
        found = write(target, out, tuple(context.args), seconds, budget, told)
    if json:
        emit(found | {"folder": str(out)}, json)
    if json != "-":
        kept = f"{found['lines']} lines of {found['before']} show it"
        if not found["shown"]:
            why = found["not_shortened"] or "no shorter script showed it"
            kept = f"{why}, so that the script stands there as it is"
        print(f"{out}: {found['cause'] or 'a crash'}; {kept} ({found['tries']} tries)")
        print(f"read {out / 'report.md'}; run {out / 'minimal.py'}")
