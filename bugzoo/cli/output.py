"""Printing for people and for machines."""

import json
import math
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from bugzoo.errors import UserError

JSON_HELP = "Write the result as JSON to this file; without a name, or with `-`, print it."


def json_option(help: str = JSON_HELP) -> Any:
    return typer.Option("--json", metavar="[OUT]", help=help, callback=_writable)


def _writable(out: str | None) -> str | None:
    """Said before the work is done and not after it: there is no such folder."""
    if out and out != "-":
        folder = Path(out).parent
        if not folder.is_dir():
            raise UserError(f"{out} cannot be written: there is no folder {folder}. Make it with `mkdir -p {folder}`.")
        if Path(out).is_dir():
            raise UserError(f"{out} is a folder. Name a file in it: --json {Path(out) / 'out.json'}")
    return out


def plain(value: Any) -> Any:
    """`value` as JSON knows it: non-finite numbers become texts (NaN, Infinity, -Infinity), arrays lists."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return str(value)


def write_text(path: Path, text: str) -> None:
    """Whole or not at all; a link stays a link. Raises UserError for a folder that is missing or a disk that is full."""
    partial, named = None, path
    try:
        if path.exists() and not path.is_file():
            # a pipe or a device is written to: putting a file in its place would take /dev/null away from everybody
            path.write_text(text, encoding="utf-8")
            return
        path = path.resolve()
        handle, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(partial, 0o666 & ~_umask())
        os.replace(partial, path)
    except OSError as error:
        if partial:
            Path(partial).unlink(missing_ok=True)
        raise UserError(f"{named} could not be written: {error.strerror or error}.") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def emit(value: Any, out: str) -> None:
    """JSON to a file, or to stdout for `-`."""
    text = json.dumps(plain(value), indent=2, allow_nan=False) + "\n"
    if out == "-":
        sys.stdout.write(text)
    else:
        write_text(Path(out), text)


def console(stderr: bool = False) -> Any:
    """A rich console that writes paths and ids as they are."""
    from rich.console import Console

    made = Console(stderr=stderr, highlight=False, soft_wrap=False)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = 120  # a file or a pipe has no width of its own; tables need not be broken for it
    return made


def table(columns: list[str], lines: list[list[str]], title: str = "") -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    shown = Table(title=title or None, title_justify="left", title_style="bold", box=box.SIMPLE, pad_edge=False)
    for number, name in enumerate(columns):
        shown.add_column(name, no_wrap=number == 0, overflow="fold")
    for line in lines:
        shown.add_row(*(Text(cell) for cell in line))
    console().print(shown)
