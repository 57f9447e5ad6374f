"""A view as text and as a figure: question, numbers, usual ranges, picture."""

from typing import Any

from bugzoo.diagnostics.numbers import digits
from bugzoo.frontend import fit
from bugzoo.running.reading import Reading
from bugzoo.views import draw, question, rows

SIZE = (7.0, 2.8)
"""Inches: as wide as a notebook's page."""


def text(name: str, reading: Reading) -> str:
    """Return the question, and a line for each number that was measured."""
    lines = [fit(f"{name}: {question(name)}")]
    if not reading.applies:
        return "\n".join([*lines, fit(f"  nothing to see: {reading.why_not}")])
    measured = [(row, value) for row in rows(name) if (value := row.value(reading.numbers)) is not None]
    width = max((len(row.label) for row, _ in measured), default=0)
    for row, value in measured:
        usual = row.usual_text()
        lines.append(f"  {row.label:{width}}  {digits(value):>9}" + (f"   usual: {usual}" if usual else ""))
    return "\n".join(lines)


def seen(name: str, reading: Reading) -> dict[str, Any]:
    """Return label -> value of the numbers that were measured."""
    return {row.label: value for row in rows(name) if (value := row.value(reading.numbers)) is not None}


def figure(name: str, reading: Reading) -> Any:
    """Return the view's matplotlib figure; None without anything to draw."""
    if not reading.applies:
        return None
    from matplotlib.figure import Figure

    canvas = Figure(figsize=SIZE, layout="constrained")
    canvas.patch.set_alpha(0.0)
    draw(name, reading.numbers, canvas)
    return canvas if canvas.axes else None
