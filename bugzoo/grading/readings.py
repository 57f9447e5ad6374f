"""Display of an instrument's reading in an exercise: question, numbers, usual values, a picture.

The verdict and the cause are shown only after the diagnosis is handed in. An instrument labels its numbers in `SHOWN`,
without naming a cause; without `SHOWN` the keys are shown.
"""

import math
from collections.abc import Mapping
from typing import Any

from bugzoo.diagnostics import instrument, question
from bugzoo.diagnostics.causes import cause
from bugzoo.frontend import fit, headless
from bugzoo.running import Reading, Run

PLAIN = ("loss_curve", "gradient_health", "overfit_one_batch", "step_timeline")
"""Instruments whose own picture shows curves and numbers without a verdict."""
COUNT = 10
"""A whole number above this is a count. On one axis with shares and losses it would dwarf them."""

Row = tuple[str, Any, str]
"""(label, value, usual value)."""


def rows(name: str, numbers: Mapping[str, Any]) -> list[Row]:
    """Return the numbers to show, in the instrument's order; unmeasured ones are left out."""
    told = getattr(instrument(name), "SHOWN", None)
    if told is None:
        told = {key: (key.replace("_", " "), "") for key in instrument(name).judge(numbers).numbers}
    found = [(label, numbers.get(key), usual) for key, (label, usual) in told.items()]
    return [row for row in found if row[1] not in (None, "") and not _nan(row[1])]


def show(name: str, reading: Reading, run: Run, verdict: bool) -> dict[str, Any]:
    """Print a reading, with a picture if there is a front end; return label -> value."""
    print(fit(f"{name}: {question(name)}"))
    if not reading.applies:
        print(fit(f"  nothing to measure: {reading.why_not}"))
        return {}
    found = rows(name, reading.numbers)
    width = max((len(label) for label, _, _ in found), default=0)
    for label, value, usual in found:
        print(f"  {label:{width}}  {_text(value):>10}" + (f"   usual: {usual}" if usual else ""))
    if not found:
        print("  not seen in this run")
    if verdict:
        _say_verdict(name, reading)
    if not headless():
        _display(name, reading, run, found, verdict)
    return {label: value for label, value, _ in found}


def _say_verdict(name: str, reading: Reading) -> None:
    judged = instrument(name).judge(reading.numbers)
    print(fit(f"  {'ALARM' if judged.fired else 'no alarm'}: {judged.message}"))
    for word in dict.fromkeys(cause(suspect.cause).word for suspect in judged.suspects if judged.fired):
        print(f"  suggests: {word}")


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
        prepare(ax, "")  # the question is above it, and may be wider than the picture
        bars(ax, values)  # bars start at zero: twice as long is twice as much
        ax.set_xlim(right=1.15 * max(1.0, *values.values()))
    else:
        return
    lab.picture(figure)  # as PNG: a kernel without pyplot shows a figure as its repr


def drawn(found: list[Row]) -> dict[str, float]:
    """Return the numbers to draw as bars: no counts, and nothing if all are zero."""
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
