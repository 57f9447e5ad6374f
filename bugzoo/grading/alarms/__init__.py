"""Conditions under which a sentence about an instrument that fires holds. The modules beside this one have the sentences."""

import math
from collections.abc import Callable, Mapping
from typing import Any

Numbers = Mapping[str, Any]
When = Callable[[Numbers], bool]
Alarm = tuple[When, str, str]
"""When it holds, what was done and what came out, and what would pass. The texts take the numbers by name."""
Table = dict[str, tuple[str, list[Alarm]]]
"""Instrument -> its title in plain words, and its sentences; the first one that holds is used."""
More = dict[str, Callable[[Numbers], dict[str, float]]]
"""Instrument -> what makes further numbers for its sentences from those that were measured."""


def always(_: Numbers) -> bool:
    """For an instrument with one sentence, and for the last one."""
    return True


def number(numbers: Numbers, name: str) -> float:
    """Return a number; NaN, which is neither above nor below another, if it was not measured."""
    value = numbers.get(name)
    return float(value) if isinstance(value, int | float) else math.nan


def above(name: str, least: float = 0.0) -> When:
    """Return a condition: the number was measured and is above `least`."""
    return lambda numbers: number(numbers, name) > least


def below(name: str, most: float) -> When:
    """Return a condition: the number was measured and is below `most`."""
    return lambda numbers: number(numbers, name) < most


def both(*conditions: When) -> When:
    """Return a condition that holds if all of these hold."""
    return lambda numbers: all(one(numbers) for one in conditions)


def measured(*names: str) -> When:
    """Return a condition: these numbers were measured and are finite."""
    return lambda numbers: all(math.isfinite(number(numbers, name)) for name in names)
