"""Exercises the other way round: write the edit that gives these readings and no others. Declared one a file in `declared/`.

from bugzoo.grading import breaking
breaking.graded("27_a_quiet_change")    # runs the notebook's program on several seeds; points
"""

from typing import Any

from bugzoo.errors import unknown
from bugzoo.grading.breaking.model import Breaking
from bugzoo.grading.declared import named as _named
from bugzoo.grading.declared import read as _read

__all__ = ["Breaking", "breakings", "debrief", "graded", "load", "named"]


def breakings() -> dict[str, Breaking]:
    """All of them, name -> declaration, in order."""
    return _read(f"{__name__}.declared", "BREAKING", Breaking)


def named(given: str) -> str:
    """The name of the one that somebody calls by name or number; "" where there is none."""
    return _named(given, breakings())


def load(name: str) -> Breaking:
    """One by name or by its number. Raises UserError with the nearest names for an unknown one."""
    if not (found := named(name)):
        raise unknown("exercise of this kind", name, breakings(), "bugzoo list exercises")
    return breakings()[found]


def graded(name: str, program: Any = None) -> float:
    """Print what the broken program shows and return its points. Without `program`: the notebook's own cells."""
    from bugzoo.grading.breaking.cell import graded as call

    return call(name, program)


def debrief(name: str, give_up: bool = False) -> None:
    """Show one edit that gives it, and why. It opens when an edit has passed, or with `give_up=True`."""
    from bugzoo.grading.breaking.cell import debrief as call

    call(name, give_up)
