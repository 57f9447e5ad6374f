"""`bug-report`: a folder that a colleague can reproduce the bug from."""

from pathlib import Path
from typing import Annotated

import typer

from bugzoo.cli import app
from bugzoo.cli.arguments import Seconds, finite, path_argument
from bugzoo.cli.output import Json, emit, shorter


@app.command(name="bug-report", context_settings={"allow_extra_args": True})
def bug_report(
    context: typer.Context,
    target: Annotated[Path, path_argument("TARGET.py", "A training script in which something is wrong.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="The folder to write; it must be new.")
    ] = Path("bug_report"),
    seconds: Seconds = 60,
    budget: Annotated[float, typer.Option(help="Seconds to search for a shorter script.")] = 300,
    json: Json = None,
) -> None:
    """Write a bug report: a minimal script that reproduces the bug, the evidence, versions, settings, data, revision.

    `checkup` runs the script. Then shorter and shorter copies run, each in its own process. A copy counts if it shows
    the same first suspect at the same statement, or the same error. Ctrl-C stops the search, and no folder is written.
    Files that the script itself writes are discarded, as under `checkup`.

    Examples:

    - `bugzoo bug-report train.py -o report`
    - `bugzoo bug-report --seconds 20 --budget 600 train.py -o report -- --epochs 2`
    """
    finite("--seconds", seconds, 0)
    finite("--budget", budget, 0)
    from bugzoo.diagnostics.checkup import read

    read(target)  # a file that is not a script is reported before torch is loaded
    from bugzoo.diagnostics.bug_report import bug_report as write

    with shorter(json) as tell:
        report = write(target, out, tuple(context.args), seconds, budget, tell)
    if json:
        emit(report | {"folder": str(out)}, json)
    if json != "-":
        summary = f"{report['lines']} of {report['before']} lines reproduce it"
        if not report["shown"]:
            why = report["not_shortened"] or "no shorter script reproduced it"
            summary = f"{why}, so the script is not shortened"
        print(f"{out}: {report['cause'] or 'a crash'}; {summary} ({report['tries']} tries)")
        print(f"read {out / 'report.md'}; run {out / 'minimal.py'}")
