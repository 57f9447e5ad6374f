"""A question whose answer is a number: right within a tolerance, with a reply of its own for each known mistake."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bugzoo.course.questions import Near, Number
from bugzoo.errors import UserError
from bugzoo.lab.quiz_widgets import plain

_TYPED = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


def number(given: Any) -> float:
    """Return a typed number: `0.693`, `.7`, `0,693` (a decimal comma) or `1e-3`. Raises UserError for anything else."""
    text = str(given).strip().replace("\u2212", "-")  # a typographic minus, as pages show it
    value = float(text.replace(",", ".")) if _TYPED.fullmatch(text) else math.nan
    if not math.isfinite(value):
        what = f"{text[:40]!r} is not a number" if text else "There is no number yet"
        raise UserError(f"{what}. Type digits, such as 0.7, 0,7 or 1e-3; this cost no try.")
    return value


def references(values: Mapping[str, float] | None, log: bool = False) -> dict[str, float]:
    """Return name -> value to compare with in a plot. Raises UserError for what is not that, or not on its `log` axis."""
    example = 'Write, for example, reference={"ln 10": 2.303}.'
    if not isinstance(values or {}, Mapping):
        raise UserError(f"reference={values!r} is not name -> value. {example}")
    read: dict[str, float] = {}
    for name, value in (values or {}).items():
        try:
            read[str(name)] = float(value)
        except (TypeError, ValueError):
            raise UserError(f"The reference value {name!r} is {value!r}, not a number. {example}") from None
        if not math.isfinite(read[str(name)]) or (log and read[str(name)] <= 0):
            raise UserError(f"The reference value {name!r} is {value:g}, which has no place on this axis. {example}")
    return read


@dataclass(frozen=True)
class NumberQuestion:
    """A question for a number. What was said is kept as text, such as "0.7"."""

    asked: Number

    how = "(1.5), with your number"
    """What to type without a front end."""

    @property
    def text(self) -> str:
        return self.asked.text

    @property
    def answer(self) -> str:
        """The right number, as the lesson writes it."""
        return self.asked.right.shown

    def read(self, given: Any) -> str:
        """Return a number as text, whichever way it is typed. Raises UserError."""
        return f"{number(given):.12g}"

    def right(self, said: str) -> bool:
        """Return whether the number is within the tolerance."""
        return self._found(said) is self.asked.right

    def why(self, said: str) -> str:
        """Return the reply to a number, without the verdict."""
        near = self._found(said)
        return near.why if near else self.asked.otherwise

    def reply(self, said: str) -> str:
        """Return the verdict and the reason."""
        return f"{'Right' if self.right(said) else 'Not quite'} ({said}): {self.why(said)}"

    def named(self, said: str) -> str:
        """Return the answer as shown beside the right one."""
        return said

    def lines(self) -> str:
        """Return the question as text."""
        return plain(self.text)

    def ask(self, chosen: Callable[[Any], str], said: str) -> Any:
        """Show a field for the number. Return (the controls, the reply below them)."""
        from bugzoo.lab.quiz_widgets import ask_number

        return ask_number(self.text, chosen, said)

    def _found(self, said: str) -> Near | None:
        return next((near for near in (self.asked.right, *self.asked.known) if near.fits(float(said))), None)
