"""What the commands share: folders, files, seeds and numbers, checked before anything heavy is imported."""

import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import typer

from bugzoo import seeds
from bugzoo.errors import UserError, unknown


def place(text: str | Path) -> Path:
    """A path as it was typed. An empty one would be the working folder, which nobody meant who typed ''."""
    if not str(text).strip():
        raise typer.BadParameter(f"{text!r} is no path; name a file or a folder, or `.` for this one")
    if "\0" in str(text):
        raise typer.BadParameter(f"{text!r} is no path: there is a zero byte in it")
    return Path(text)


def seed_option(help: str) -> Any:
    return typer.Option(min=0, max=seeds.MOST, help=help)


def executor_option() -> Any:
    return typer.Option(
        metavar="tcp://HOST:PORT",
        help="Let a Dask cluster do it: the address of its scheduler. Workers need the same bugzoo.",
    )


def finite(name: str, value: float, low: float, high: float = math.inf) -> float:
    """`value` where it is a number above `low`, up to `high`. Raises UserError; click takes nan and inf for numbers."""
    if not low < value <= high or math.isinf(value):
        upto = f", up to {high:g}" if math.isfinite(high) else ""
        raise UserError(f"{name} {value:g} is not allowed; it is a number above {low:g}{upto}.")
    return value


def check_assignment(given: str) -> None:
    """Raises UserError where `given` is neither a folder with a key nor an exercise, by name or number."""
    from bugzoo.grading.exercises import exercises, load
    from bugzoo.instructor import folder

    if not given.strip() or "/" in given or (os.path.exists(given) and not os.path.isdir(given)):
        if not given.strip() or not os.path.isdir(given):
            raise UserError(
                f"--assignment {given!r}: there is no such folder. `bugzoo assign` makes one; `bugzoo list exercises` shows "
                "what else can be graded."
            )
    if os.path.isdir(given):
        folder.key(Path(given))
    else:
        try:
            load(given)
        except UserError:
            raise unknown("assignment's folder or exercise", given, exercises(), "bugzoo list exercises") from None


def check_faults(specs: Iterable[str], program: str | None = None) -> None:
    """Raises UserError for an unknown program or fault, or a parameter that it has not or not with this value.

    A parameter that is left open, `step=40..60`, is looked at where it is settled.
    """
    from bugzoo import programs
    from bugzoo.scenario import parse_spec

    if program is not None:
        programs.load(program)
    for spec in specs:
        parse_spec(spec.partition("?")[0] if ".." in spec else spec)
