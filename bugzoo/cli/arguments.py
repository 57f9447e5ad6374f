"""Arguments that commands share (folders, files, seeds, numbers), checked before anything heavy is imported."""

import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from bugzoo import seeds
from bugzoo.errors import UserError, unknown


def place(text: str | Path) -> Path:
    """Return a path as it was typed. Raises BadParameter for '', which Path would read as the working folder."""
    if not str(text).strip():
        raise typer.BadParameter(f"{text!r} is not a path; name a file or folder, or `.` for this one")
    if "\0" in str(text):
        raise typer.BadParameter(f"{text!r} is not a path: it holds a zero byte")
    return Path(text)


def path_argument(metavar: str, help: str) -> Any:
    """Return the declaration of an argument that is a path."""
    return typer.Argument(metavar=metavar, parser=place, help=help)


def path_option(metavar: str, help: str, *names: str) -> Any:
    """Return the declaration of an option whose value is a path."""
    return typer.Option(*names, metavar=metavar, parser=place, help=help)


Seconds = Annotated[float, typer.Option(help="Stop the script after so many seconds, then judge what was seen.")]
Executor = Annotated[
    str | None,
    typer.Option(
        metavar="tcp://HOST:PORT",
        help="Run on a Dask cluster: the address of its scheduler. Its workers need the same bugzoo version.",
    ),
]


def seed_option(help: str) -> Any:
    return typer.Option(min=0, max=seeds.MOST, help=help)


def finite(name: str, value: float, low: float, high: float = math.inf) -> float:
    """Return `value` if it is above `low` and at most `high`. Raises UserError, also for nan and inf."""
    if not low < value <= high or math.isinf(value):
        upto = f", up to {high:g}" if math.isfinite(high) else ""
        raise UserError(f"{name} {value:g} is not allowed; use a number above {low:g}{upto}.")
    return value


def check_assignment(given: str) -> None:
    """Raise UserError unless `given` is a folder with an answer key, or an exercise's name or number."""
    from bugzoo.grading.exercises import exercises, load
    from bugzoo.instructor import folder

    if not given.strip() or "/" in given or (os.path.exists(given) and not os.path.isdir(given)):
        if not given.strip() or not os.path.isdir(given):
            advice = "`bugzoo assign` makes one. `bugzoo list exercises` lists exercises to grade."
            raise UserError(f"--assignment {given!r}: there is no such folder. {advice}")
    if os.path.isdir(given):
        folder.key(Path(given))
        folder.drawn(Path(given))
    else:
        try:
            load(given)
        except UserError:
            raise unknown("assignment's folder or exercise", given, exercises(), "bugzoo list exercises") from None


def check_faults(specs: Iterable[str], program: str | None = None) -> None:
    """Raise UserError for an unknown program, fault or parameter, or a parameter value out of range.

    An open parameter such as `step=40..60` is checked later, when its value is drawn.
    """
    from bugzoo import programs
    from bugzoo.scenario import parse_spec

    if program is not None:
        programs.load(program)
    for spec in specs:
        parse_spec(spec.partition("?")[0] if ".." in spec else spec)
