"""Exercises without a repair: which of these five runs is ill, and of what? Declared one a file in `declared/`.

from bugzoo.grading import lineup
board = lineup.board("12_five_losses")     # trains the five, each once on this machine
board.instrument("B", "gradient_health")  # numbers, what is usual, a picture; no verdict before the answer
lineup.graded("12_five_losses")            # points
"""

from typing import Any

from bugzoo.errors import unknown
from bugzoo.grading.declared import named as _named
from bugzoo.grading.declared import read as _read
from bugzoo.grading.lineup.model import Candidate, Lineup

__all__ = ["Candidate", "Lineup", "board", "debrief", "graded", "lineups", "load", "named"]


def lineups() -> dict[str, Lineup]:
    """All of them, name -> declaration, in order."""
    return _read(f"{__name__}.declared", "LINEUP", Lineup)


def named(given: str) -> str:
    """The name of the line-up that somebody calls by name or number; "" where there is none."""
    return _named(given, lineups())


def load(name: str) -> Lineup:
    """One by name or by its number. Raises UserError with the nearest names for an unknown one."""
    if not (found := named(name)):
        raise unknown("line-up", name, lineups(), "bugzoo list exercises")
    return lineups()[found]


def board(name: str) -> Any:
    """Show the five runs of a line-up."""
    from bugzoo.grading.lineup.five import Board

    return Board(name).show()


def graded(name: str, filled: dict[str, Any] | None = None) -> float:
    """Print how right the answer is and return its points. Without `filled`: the one that was handed in last."""
    from bugzoo.grading.lineup.cell import graded as call

    return call(name, filled)


def debrief(name: str) -> None:
    """Say what each of the five was. It opens when an answer is handed in."""
    from bugzoo.grading.lineup.cell import debrief as call

    call(name)
