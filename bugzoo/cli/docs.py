"""`docs`: build the catalogue as a website."""

import time
from pathlib import Path
from typing import Annotated

import typer

from bugzoo.cli import app
from bugzoo.cli.arguments import path_argument
from bugzoo.cli.command import App
from bugzoo.cli.output import Json, emit, progress
from bugzoo.files import check_folder

group = App(no_args_is_help=True, help="Build the catalogue as a website: a page for each fault, an index by symptom.")
app.add_typer(group, name="docs")


@group.command()
def build(
    out: Annotated[Path, path_argument("DIR", "The folder for the site.")] = Path("site"),
    pictures: Annotated[bool, typer.Option(help="Run each fault and its healthy twin once, and plot them.")] = True,
    json: Json = None,
) -> None:
    """Build the site: a page for each fault, instrument and program, an index by symptom, and the proof matrix.

    Texts come from the catalogue's files and numbers from the ledger. Curves come from runs on this machine, which
    are cached. Every link is checked.

    Examples:

    - `bugzoo docs build`
    - `bugzoo docs build my_site --no-pictures`
    """
    check_folder(out)
    from bugzoo.pages import site

    begin = time.monotonic()
    with progress("runs", json) as tell:
        counts = site.build(out, pictures, tell)
    seconds = round(time.monotonic() - begin, 1)
    if json:
        emit({"folder": str(out), "seconds": seconds, **counts}, json)
    if json != "-":
        size = counts["bytes"] / 2**20
        counted = f"{counts['pages']} pages, {counts['pictures']} pictures, {size:.1f} MiB"
        print(f"{out}: {counted}, in {seconds:.0f} s. To read them, with search: `python -m http.server -d {out}`")
