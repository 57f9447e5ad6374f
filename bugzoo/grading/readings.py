"""What an instrument's reading looks like in an exercise: question, numbers, what is usual, a picture.

Before the diagnosis is handed in nothing else is said; afterwards the verdict stands below, with the cause in words. An
instrument names its numbers in `SHOWN`, without a word that gives a cause away; one that does not is shown by its keys.
"""

import math
from collections.abc import Mapping
from typing import Any

from bugzoo.diagnostics import instrument, question
from bugzoo.diagnostics.causes import cause
from bugzoo.frontend import headless
from bugzoo.running import Reading, Run

PLAIN = ("loss_curve", "gradient_health", "step_timeline")
"""Instruments whose own picture shows curves and numbers and says nothing of them."""

Row = tuple[str, Any, str]
"""(what it is, its value, what is usual)."""


def rows(name: str, numbers: Mapping[str, Any]) -> list[Row]:
    """The numbers that are shown, in the instrument's own order; those that it did not measure are left out."""
    told = getattr(instrument(name), "SHOWN", None)
    if told is None:
        told = {key: (key.replace("_", " "), "") for key in instrument(name).judge(numbers).numbers}
    found = [(label, numbers.get(key), usual) for key, (label, usual) in told.items()]
    return [row for row in found if row[1] not in (None, "") and not _nan(row[1])]


def show(name: str, reading: Reading, run: Run, verdict: bool) -> dict[str, Any]:
    """Print a reading, with a picture where somebody looks; returns what each number is called -> its value."""
    print(f"{name}: {question(name)}")
    if not reading.applies:
        print(f"  nothing to measure: {reading.why_not}")
        return {}
    found = rows(name, reading.numbers)
    width = max((len(label) for label, _, _ in found), default=0)
    for label, value, usual in found:
        print(f"  {label:{width}}  {_text(value):>10}" + (f"   usual: {usual}" if usual else ""))
    if not found:
        print("  nothing of that was seen in this run")
    if verdict:
        _say_verdict(name, reading)
    if not headless():
        _display(name, reading, run, found, verdict)
    return {label: value for label, value, _ in found}


def _say_verdict(name: str, reading: Reading) -> None:
    judged = instrument(name).judge(reading.numbers)
    print(f"  {'ALARM' if judged.fired else 'no alarm'}: {judged.message}")
    for word in dict.fromkeys(cause(suspect.cause).word for suspect in judged.suspects if judged.fired):
        print(f"  speaks for: {word}")


def _display(name: str, reading: Reading, run: Run, found: list[Row], verdict: bool) -> None:
    from matplotlib.figure import Figure

    from bugzoo import lab, plots
    from bugzoo.plots._style import bars, prepare

    figure = Figure(figsize=(7, 2.6), layout="constrained")
    ax = figure.subplots()
    values = {label: float(value) for label, value, _ in found if isinstance(value, int | float)}
    if verdict or name in PLAIN:
        run.readings = {**run.readings, name: reading}
        plots.draw(name, run, ax)
    elif values:
        prepare(ax, "")  # the question stands above it, and may be longer than the picture is wide
        bars(ax, values)
        if any(abs(value) > 1 for value in values.values()):
            ax.set_xscale("symlog", linthresh=1e-3)
        ax.set_xticks([])  # each bar says its number; those of so many decades would lie one upon the other
    else:
        return
    lab.picture(figure)  # as PNG: a kernel that never loaded pyplot shows a bare figure as its repr


def _nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _text(value: Any) -> str:
    if isinstance(value, float | int):
        return f"{value:.4g}" if value != int(value) or abs(value) >= 1e6 else f"{value:.0f}"
    return str(value)
