"""Which failed check tells a learner most. Every place that shows a verdict shows the checks in this order.

The order is that of the table, not that in which the checks were made: the cheap ones are made first.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from bugzoo.grading import symptoms

if TYPE_CHECKING:
    from bugzoo.grading.model import Check

INSTRUMENTS = "instruments"
"""In the table: every instrument that fires. The check of this name passes, so it needs no place of its own."""
RANKS: tuple[tuple[str, ...], ...] = (
    ("run",),
    ("model",),
    ("symptom", "agreement", "later steps", "speed"),
    (INSTRUMENTS, "second run", "training"),
    ("forward pass", "answers", "gradient", "update", "modes at steps", "dropout", "order", "data at steps"),
    ("answers at steps", "steps", "weights"),
    ("training loss", "accuracy", "r2", "loss", "seeds"),
    ("data", "report", "model size", "budget", "account", "tools"),
)
"""From what tells most to what tells least: it stopped; what was handed out is gone; the fault's own symptom; other
instruments; what it computes differently; how well it does; and what has to stay as it was.

A failed check of the last row stays listed: it says what a repair may not do.
"""
_PLACE = {name: (row, place) for row, names in enumerate(RANKS) for place, name in enumerate(names)}


def rank(check: "Check") -> tuple[int, int]:
    """Return the place of a check in the table, the lower the more telling.

    Claims about `instrument.key` in a *break* exercise are the symptom that it asks for. What is in no row comes last.
    """
    name = "symptom" if "." in check.name else check.name
    if name not in _PLACE and symptoms.title(name):
        name = INSTRUMENTS
    return _PLACE.get(name, (len(RANKS), 0))


def by_telling(checks: "Iterable[Check]") -> "list[Check]":
    """Return the failed checks, the most telling first, and then the passed ones as they were made."""
    entries = list(checks)
    failed = [check for check in entries if not check.passed]
    return sorted(failed, key=rank) + [check for check in entries if check.passed]
