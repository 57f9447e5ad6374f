"""What an instrument's reading looks like in an exercise: question, numbers, what is usual, a picture.

Before the diagnosis is handed in nothing else is said; afterwards the verdict stands below, with the cause in words. An
instrument names its numbers in `SHOWN`, without a word that gives a cause away; one that does not is shown by its keys.
"""

import math
from collections.abc import Mapping
from typing import Any

from bugzoo.diagnostics import instrument, question
from bugzoo.diagnostics.causes import cause
from bugzoo.frontend import fit, headless
from bugzoo.running import Reading, Run

PLAIN = ("loss_curve", "gradient_health", "overfit_one_batch", "step_timeline")
"""Instruments whose own picture shows curves and numbers and says nothing of them."""
COUNT = 10
"""A whole number above it counts something. On one axis with shares and losses it would be all that is seen."""

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
    print(fit(f"{name}: {question(name)}"))
    if not reading.applies:
        print(fit(f"  nothing to measure: {reading.why_not}"))
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
    print(fit(f"  {'ALARM' if judged.fired else 'no alarm'}: {judged.message}"))
    for word in dict.fromkeys(cause(suspect.cause).word for suspect in judged.suspects if judged.fired):
        print(f"  speaks for: {word}")


def _display(name: str, reading: Reading, run: Run, found: list[Row], verdict: bool) -> None:
    from matplotlib.figure import Figure

    from bugzoo import lab, plots
    from bugzoo.plots._style import bars, prepare

    figure = Figure(figsize=(7, 2.6), layout="constrained")
    ax = figure.subplots()
    values = drawn(found)
    if name in PLAIN or (verdict and name in plots.names()):
        run.readings = {**run.readings, name: reading}
        plots.draw(name, run, ax)
    elif values:
        prepare(ax, "")  # the question stands above it, and may be longer than the picture is wide
        bars(ax, values)  # from zero and in proportion: twice as long is twice as much
        ax.set_xlim(right=1.15 * max(1.0, *values.values()))
    else:
        return
    lab.picture(figure)  # as PNG: a kernel that never loaded pyplot shows a bare figure as its repr


def drawn(found: list[Row]) -> dict[str, float]:
    """The numbers that are drawn as bars beside each other: not what is counted, and nothing where it is all zero."""
    numbers = {label: float(value) for label, value, _ in found if isinstance(value, int | float)}
    kept = {
        label: one for label, one in numbers.items() if math.isfinite(one) and not (one > COUNT and one == int(one))
    }
    return kept if any(kept.values()) else {}


def _nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _text(value: Any) -> str:
    if isinstance(value, float | int):
        whole = math.isfinite(value) and value == int(value) and abs(value) < 1e6
        return f"{value:.0f}" if whole else f"{value:.4g}"
    return str(value)
