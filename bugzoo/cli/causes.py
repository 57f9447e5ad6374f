"""`causes`: gather the words of causes from the files of faults."""

from pathlib import Path
from typing import Annotated

from bugzoo.cli import app
from bugzoo.cli.command import App
from bugzoo.cli.output import Json, built, check_option

group = App(no_args_is_help=True, help="Build the table of what causes are called, from the files of the faults.")
app.add_typer(group, name="causes")


@group.command()
def build(only_check: Annotated[bool, check_option("table")] = False, json: Json = None) -> None:
    """Build causes.json from the files of bugzoo's faults, and from those of installed fault packs. Never edit it by hand.

    Type it after a change of `cause` in a fault's file, or of `CAUSE` in its family's.

    Examples:

    - `bugzoo causes build`
    - `bugzoo causes build --check`
    """
    from bugzoo import notebooks
    from bugzoo.proving.cause_table import texts

    tables, here = texts(), Path()
    if only_check:
        lines = notebooks.stray(tables, here, "faults", "bugzoo causes build")
    else:
        lines = notebooks.write_changed(tables, here)
    built("tables of causes", len(tables), lines, json, "files", only_check=only_check)
