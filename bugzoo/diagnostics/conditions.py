"""Conditions on an instrument's numbers: each has a name in the instrument's file, and is written once.

    bites = Alarm(
        above("bites_share", 0.9) & above("times_over", 20),
        "The gradient norms were compared with their limit of {limit:.3g}. {bites_share:.0%} of the steps exceed it.",
        "At most {limits[bites_share]:.0%} passes; {usual[bites_share]} is usual.",
    )

The judge asks it, as in `if bites(numbers)`; a repair's answer and a page quote its sentences.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bugzoo.diagnostics.numbers import Measured


def _number(numbers: "Measured | Mapping[str, Any]", key: str) -> float:
    """Return a number; NaN, which is neither above nor below another, if it was not measured or is text."""
    value = numbers.get(key) if isinstance(numbers, Mapping) else getattr(numbers, key)
    return float(value) if isinstance(value, int | float) else math.nan


@dataclass(frozen=True)
class Condition:
    """A statement about numbers that holds or not. `limits`: number -> what it is compared with."""

    holds: Callable[["Measured | Mapping[str, Any]"], bool]
    limits: Mapping[str, float]

    def __call__(self, numbers: "Measured | Mapping[str, Any]") -> bool:
        return self.holds(numbers)

    def __and__(self, other: "Condition") -> "Condition":
        return Condition(lambda numbers: self(numbers) and other(numbers), {**self.limits, **other.limits})

    def __or__(self, other: "Condition") -> "Condition":
        return Condition(lambda numbers: self(numbers) or other(numbers), {**self.limits, **other.limits})

    def __invert__(self) -> "Condition":
        return Condition(lambda numbers: not self(numbers), self.limits)


def above(key: str, least: float = 0.0) -> Condition:
    """Return a condition: the number was measured and is above `least`."""
    return Condition(lambda numbers: _number(numbers, key) > least, {key: least})


def below(key: str, most: float) -> Condition:
    """Return a condition: the number was measured and is below `most`."""
    return Condition(lambda numbers: _number(numbers, key) < most, {key: most})


def measured(*keys: str) -> Condition:
    """Return a condition: these numbers were measured and are finite."""
    return Condition(lambda numbers: all(math.isfinite(_number(numbers, key)) for key in keys), {})


@dataclass(frozen=True)
class Alarm:
    """A condition under which an instrument fires, with what a learner who repairs is told of it. No word names a cause.

    `saw`: what was done and what came out; it takes the numbers by name. `passes`: what would pass; it takes the limits
    as `{limits[key]}` and the usual range as `{usual[key]}`.
    """

    when: Condition
    saw: str
    passes: str

    def __call__(self, numbers: "Measured | Mapping[str, Any]") -> bool:
        return self.when(numbers)

    def sentences(self, numbers: Mapping[str, Any], usual: Mapping[str, str]) -> tuple[str, str]:
        """Return both texts. Raises KeyError, TypeError or ValueError if a number that they name is missing or text."""
        return self.saw.format_map(numbers), self.passes.format_map({"limits": self.when.limits, "usual": usual})
