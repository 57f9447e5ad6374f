"""`docs`: the catalogue as a site."""

import time
from pathlib import Path
from typing import Annotated

import typer

from bugzoo.cli import app
from bugzoo.cli.arguments import place
from bugzoo.cli.command import App
from bugzoo.cli.output import emit, json_option, progress
from bugzoo.files import check_folder

group = App(no_args_is_help=True, help="The catalogue as a site: a page for each fault, and an index by symptom.")
app.add_typer(group, name="docs")


@group.command()
def build(
    out: Annotated[Path, typer.Argument(metavar="DIR", parser=place, help="Where the site goes.")] = Path("site"),
    pictures: Annotated[bool, typer.Option(help="Run each fault beside its twin once, and draw it.")] = True,
    json: Annotated[str | None, json_option()] = None,
) -> None:
    """Make the site: a page for each fault, instrument and program, an index by symptom, and what is proved.

    The words come from the files of the catalogue, the numbers from the ledger, the curves from runs of this machine, which
    are kept for the next time. Every link is followed.

    Examples:

    - `bugzoo docs build`
    - `bugzoo docs build my_site --no-pictures`
    """
    check_folder(out)
    from bugzoo.pages import site

    begin = time.monotonic()
    with progress("runs", json) as tell:
        made = site.build(out, pictures, tell)
    seconds = round(time.monotonic() - begin, 1)
    if json:
        emit({"folder": str(out), "seconds": seconds, **made}, json)
    if json != "-":
        size = made["bytes"] / 2**20
        counted = f"{made['pages']} pages, {made['pictures']} pictures, {size:.1f} MiB"
        print(f"{out}: {counted}, in {seconds:.0f} s. `python -m http.server -d {out}` shows them, with search.")
