"""Horizontal bars for the views of the machine: one a name, with its number behind it."""

import math
from collections.abc import Mapping
from typing import Any

from bugzoo.diagnostics.numbers import digits
from bugzoo.views import _draw

ROOM = 1.22
"""The axis is so much longer than the longest bar: a number stands behind it."""


def known(numbers: Mapping[str, Any], sources: Mapping[str, str]) -> dict[str, float]:
    """Return name -> number, for the names whose number was measured."""
    pairs = ((name, numbers.get(key)) for name, key in sources.items())
    return {name: float(x) for name, x in pairs if isinstance(x, int | float) and math.isfinite(x)}


def bars(ax: Any, values: Mapping[str, float], least: float, usual: Mapping[str, float] | None = None) -> bool:
    """Draw one bar for each value, from 0, on an axis that reaches to `least` or further. Return False without values.

    `usual`: the end of the usual range of a value, shaded behind its bar.
    """
    if not values:
        return False
    places = range(len(values))
    reach = max([least, *values.values(), *(usual or {}).values()]) * ROOM
    for row, name in enumerate(values if usual else ()):
        width = max((usual or {}).get(name, 0.0), reach / 250)
        ax.barh(row, width, height=0.9, color=_draw.INK, alpha=0.25, label="" if row else "usual")
    ax.barh(places, list(values.values()), height=0.5, color=_draw.THIS_RUN, alpha=0.85)
    for row, value in enumerate(values.values()):
        ax.text(value + reach / 100, row, digits(round(value, 3)), color=_draw.INK, va="center", fontsize=_draw.TEXT)
    ax.set_yticks(places, list(values))
    ax.set_xlim(0, reach)
    ax.set_ylim(len(values) - 0.4, -0.6)
    return True
