"""`Row`: one number of a view, with its label and its usual range."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

ANY = math.inf
"""The open end of a usual range."""


@dataclass(frozen=True)
class Row:
    """A number that a view prints.

    `source`: `instrument.key` for a number that an instrument measures, or the key of a number of the view itself.
    `label`: what is measured, with its unit; it names no cause.
    `usual`: (smallest, largest) value of healthy runs, -ANY or ANY where it is open; in words where another number of
    the run says it. None: a fact about this run, such as a count, which has no usual range.
    """

    source: str
    label: str
    usual: tuple[float, float] | str | None = None

    @property
    def range(self) -> tuple[float, float] | None:
        """The usual range in numbers; None for a fact, and for one in words."""
        return self.usual if isinstance(self.usual, tuple) else None

    def value(self, numbers: Mapping[str, Any]) -> Any:
        """Return the number; None if it was not measured."""
        found = numbers.get(self.source)
        return None if found in (None, "") or (isinstance(found, float) and math.isnan(found)) else found

    def outside(self, numbers: Mapping[str, Any]) -> bool:
        """Return whether the number is known and outside its usual range."""
        value = self.value(numbers)
        if self.range is None or not isinstance(value, int | float):
            return False
        return not self.range[0] <= value <= self.range[1]

    def usual_text(self) -> str:
        """Return the usual range as text; "" for a fact."""
        if not isinstance(self.usual, tuple):
            return self.usual or ""
        low, high = self.usual
        if low == high:
            return number(low)
        if low == -ANY:
            return f"up to {number(high)}"
        return f"from {number(low)}" if high == ANY else f"{number(low)} to {number(high)}"


def number(value: Any) -> str:
    """Return a value as people write it: whole numbers without a point, others with four digits."""
    if not isinstance(value, int | float):
        return str(value)
    whole = math.isfinite(value) and value == int(value) and abs(value) < 1e6
    return f"{value:.0f}" if whole else f"{value:.4g}"
