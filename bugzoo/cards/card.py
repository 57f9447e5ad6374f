"""A card: some lines of a program, the question which of them is wrong, and what is told behind the answer."""

import difflib
from dataclasses import dataclass
from typing import Any

from bugzoo import choices, dialects, record
from bugzoo.cards.excerpt import Excerpt, excerpt, hunks
from bugzoo.diagnostics import causes
from bugzoo.errors import UserError
from bugzoo.scenario import Scenario

ASKED = "Which line is wrong, or stands beside a line that is missing? 0: none."
NONE = "none of them is wrong"
INTACT = "These lines stand in the program when it is well."
STRANGE = "They look odd and change nothing that matters."
DIALECTS = (6, 6, 3, 3)
"""How many dialects the lines of a card are written in; the first draw under which they show the fault and nothing beside it."""


@dataclass(frozen=True)
class Card:
    """`key` is what the record calls it. `cause`, `why` and `shown` are for behind the answer."""

    key: str
    family: str
    program: str
    fault: str
    cause: str
    """The word for it; "nothing is wrong" where that is so."""
    why: str
    excerpt: Excerpt
    shown: tuple[str, ...] = ()
    """Lines of a diff: what stands there, and what should. Empty where nothing is wrong."""
    dialect: str = ""
    """What its dialects were drawn from; empty where it has none."""

    @property
    def healthy(self) -> bool:
        """Nothing is wrong."""
        return self.cause == causes.NOTHING

    @property
    def wrong(self) -> tuple[int, ...]:
        """The lines that may be named: any of them is right; (0,) where nothing is wrong."""
        return (0,) if self.healthy else self.excerpt.marked

    @property
    def allowed(self) -> tuple[int, ...]:
        """What can be said: 0 and the numbers of its lines."""
        return (0, *(number for number, _ in self.excerpt.lines if number))

    def answer(self, line: int, seconds: float, sure: int | None = None) -> tuple[bool, str]:
        """Name a line, or 0, and how `sure` you are, 0 to 100. Kept in the record. Returns (right, what is told).

        Raises UserError for another number.
        """
        if line not in self.allowed:
            raise UserError(
                f"{line} is no line of this card; say 0 for none, or {self.allowed[1]} to {self.allowed[-1]}."
            )
        right = line in self.wrong
        told: dict[str, Any] = {"cause": self.cause, "fault": self.fault, "program": self.program, "line": line}
        told |= {} if sure is None else {"sure": sure}
        told |= {"dialect": self.dialect} if self.dialect else {}
        record.note(self.key, "card", told | {"right": right, "seconds": round(seconds, 2)})
        if right:
            return True, f"Right: {self.cause}. {self.why}"
        if self.healthy:
            return False, f"No: line {line} is well, {self.cause}. {self.why}"
        missed = "something is wrong" if not line else f"line {line} does what it should"
        return False, f"No: {missed}. It is {self.where}: {self.cause}. {self.why}"

    @property
    def where(self) -> str:
        """The lines to be named, in words."""
        numbers = [str(number) for number in self.wrong]
        return f"line {numbers[0]}" if len(numbers) == 1 else f"lines {', '.join(numbers[:-1])} and {numbers[-1]}"


def make(fault_id: str, program: str, healthy: bool = False, seed: int = 0, dialect: str = "") -> Card | None:
    """The card of a fault on a program; `healthy`: of the same lines without it. None where no ten lines show it.

    `seed` is the program's own, and with it the ticket's; `dialect` is what the dialects of its lines are drawn from.
    """
    scenario = Scenario(program, (fault_id,), seed=seed)
    [(fault, params)] = scenario.specs
    if healthy and fault.trap:
        return None
    ill, well, dialect = _written(scenario, dialect)
    cut = excerpt(ill, well) if healthy else excerpt(well, ill)
    if cut is None:
        return None
    family = fault_id.rpartition(":")[2].split("/")[0]
    key = f"{scenario.ticket}{'/well' if healthy else ''}"
    if healthy:
        return Card(key, family, program, fault_id, causes.NOTHING, INTACT, cut, (), dialect)
    first = next(iter(fault.look_alikes), None)
    why = f"{first.test} {choices.said(first.here)}" if first else ""
    if fault.trap:
        return Card(key, family, program, fault_id, causes.NOTHING, f"{STRANGE} {why}".strip(), cut, (), dialect)
    cause = causes.right(fault_id, params)[0]
    why = why and f"To be sure: {why}"
    return Card(key, family, program, fault_id, cause, why, cut, _beside(well, ill), dialect)


def _written(scenario: Scenario, dialect: str) -> tuple[str, str, str]:
    """The broken and the healthy text, both in the same dialects, and `dialect` where there are any.

    A text whose twin lacks what was drawn for it, so that more than the fault differs, is written in fewer of them.
    """
    ill, well = scenario.source, scenario.base
    for turn, many in enumerate(DIALECTS if dialect else ()):
        drawn = f"{dialect}/{turn}"
        broken, made = dialects.apply(ill, drawn, many)
        intact, also = dialects.apply(well, drawn, len(made), made)
        if made and also == made and len(hunks(intact, broken)) == len(hunks(well, ill)) and excerpt(intact, broken):
            return broken, intact, drawn
    return ill, well, ""


def _beside(well: str, ill: str) -> tuple[str, ...]:
    """The lines that differ, as a diff shows them: what stands there, and what should."""
    lines = difflib.unified_diff(ill.splitlines(), well.splitlines(), lineterm="", n=0)
    return tuple(line for line in lines if line[:1] in "+-" and line[:3] not in ("---", "+++") and line[1:].strip())
