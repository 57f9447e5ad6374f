"""Plots of the instruments' measurements, drawn from numbers only.

`draw(name, data, ax)` takes the instrument's numbers, a Reading, or a Run that carries them. An instrument with more
than a bar chart has a file of the same stem here; its `draw(data, ax)` may also take a Run's or Trace's curves. A plot
without data shows one line of text and raises nothing.
"""

import importlib
import pkgutil
from typing import Any

from bugzoo.diagnostics import instrument, question
from bugzoo.diagnostics import names as instruments
from bugzoo.errors import unknown
from bugzoo.plots import lines
from bugzoo.plots._labels import end_labels, legend, mark, reference
from bugzoo.plots._palette import GUESS, HEALTHY, INK, REPAIR, RIVAL, SERIES, STYLES, THIS_RUN, colors_of
from bugzoo.plots._smoothing import comparable, smoothed, smoothed_note, window
from bugzoo.plots._style import DPI, absent, bars, curve, dress, figure, numbers_of, prepare

__all__ = [
    "DPI", "GUESS", "HEALTHY", "INK", "REPAIR", "RIVAL", "SERIES", "STYLES", "THIS_RUN", "absent", "bars", "colors_of",
    "comparable", "curve", "draw", "dress", "end_labels", "figure", "legend", "lines", "mark", "names", "prepare", "reference",
    "smoothed", "smoothed_note", "window",
]  # fmt: skip


def names() -> list[str]:
    """Return the stems of the instruments with their own plot, in alphabetical order."""
    return sorted({module.name for module in pkgutil.iter_modules(__path__)} & set(instruments()))


def draw(name: str, data: Any, ax: Any) -> Any:
    """Draw one instrument's plot into matplotlib axes and return them. Raises UserError for an unknown name."""
    if name not in instruments():
        raise unknown("instrument", name, instruments(), "bugzoo list instruments")
    if name in names():
        importlib.import_module(f"{__name__}.{name}").draw(data, ax)
    else:
        _default(name, data, ax)
    return ax


def _default(name: str, data: Any, ax: Any) -> None:
    """Draw the numbers that the instrument's judge shows as bars: shares from 0 to 1, others on a common scale."""
    numbers = numbers_of(data, name)
    readings: dict[str, float] = instrument(name).judge(numbers).numbers if numbers else {}
    prepare(ax, question(name))
    ax.title.set_wrap(True)
    if not bars(ax, {key.replace("_", " "): value for key, value in readings.items()}):
        absent(ax, "this instrument measured nothing")
    elif all(0 <= value <= 1 for value in readings.values()):
        ax.set_xlim(0, 1.1)
    else:
        ax.set_xscale("symlog", linthresh=1e-3)
