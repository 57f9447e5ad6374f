"""A view as text, as a table and as a figure: question, picture, numbers outside their usual range, and the rest.

`runs` is one reading, or column -> reading for several runs of one view.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from bugzoo.diagnostics.numbers import digits
from bugzoo.frontend import fit
from bugzoo.running.reading import Reading
from bugzoo.templates import render
from bugzoo.views import draw, question, rows

HEIGHT = 2.8
"""Inches. A view may change it for what it has to show."""
OUTSIDE, REST = "outside the usual range:", "the rest:"
ALL_USUAL = "No number is outside its usual range."
MARK = "!"
"""Stands after each number outside its usual range: no color is needed."""
Runs = Reading | Mapping[str, Reading]


class Line(NamedTuple):
    """A row of the view: its label, the number of each run, whether that is outside, and the usual range."""

    label: str
    numbers: tuple[str, ...]
    outside: tuple[bool, ...]
    usual: str


def lines(name: str, runs: Mapping[str, Reading]) -> tuple[list[Line], list[Line]]:
    """Return the lines with a number outside its usual range, and the rest: first those with a usual range."""
    odd, ranged, facts = [], [], []
    for row in rows(name):
        values = [row.value(reading.numbers) for reading in runs.values()]
        outside = tuple(row.outside(reading.numbers) for reading in runs.values())
        numbers = tuple("-" if value is None else digits(value) for value in values)
        if set(numbers) != {"-"}:
            group = odd if any(outside) else ranged if row.usual_text() else facts
            group.append(Line(row.label, numbers, outside, row.usual_text()))
    return odd, ranged + facts


def text(name: str, runs: Runs) -> str:
    """Return the question, and a line for each number that was measured."""
    return "\n".join([head(name), body(name, runs)])


def head(name: str) -> str:
    """Return the line with the question."""
    return fit(f"{name}: {question(name)}")


def body(name: str, runs: Runs) -> str:
    """Return the lines below the question."""
    runs = _columns(runs)
    odd, rest = lines(name, runs)
    wide = max((len(line.label) for line in odd + rest), default=0)
    sizes = [max(9, len(column)) for column in runs]
    parts = [fit(f"  {line}") for line in _empty(runs)]
    if any(runs) and odd + rest:
        parts.append(_line("", tuple(runs), (False,) * len(runs), "", wide, sizes))
    if odd:
        parts += [f"  {OUTSIDE}", *(_line(*line, wide, sizes) for line in odd)]
    elif rest:
        parts.append(f"  {ALL_USUAL}")
    if rest:
        parts += [f"  {REST}", *(_line(*line, wide, sizes) for line in rest)]
    return "\n".join(parts)


def _line(
    label: str, numbers: Sequence[str], outside: Sequence[bool], usual: str, wide: int, sizes: Sequence[int]
) -> str:
    marked = (
        f"{number:>{size}}{MARK if odd else ' '}" for number, odd, size in zip(numbers, outside, sizes, strict=True)
    )
    return f"  {label:{wide}}  {' '.join(marked)}  {usual and f'usual: {usual}'}".rstrip()


def html(name: str, runs: Runs) -> str:
    """Return the lines below the question as HTML, with the rest folded."""
    runs = _columns(runs)
    odd, rest = lines(name, runs)
    words = {"title": OUTSIDE, "rest": REST, "usual": ALL_USUAL, "mark": MARK, "columns": list(runs)}
    return render("bugzoo.views", "lines.html.j2", odd=odd, lines=rest, empty=_empty(runs), **words)


def seen(name: str, reading: Reading) -> dict[str, Any]:
    """Return label -> value of the numbers that were measured."""
    return {row.label: value for row in rows(name) if (value := row.value(reading.numbers)) is not None}


def figure(name: str, runs: Runs) -> Any:
    """Return the view's matplotlib figure, with a named panel for each of several runs; None without anything to draw."""
    singles = {column: drawn for column, reading in _columns(runs).items() if (drawn := _single(name, reading))}
    from bugzoo.views import _draw, _panels

    if len(singles) < 2:
        column, single = next(iter(singles.items()), ("", None))
        if column and single:
            single.suptitle(column, color=_draw.INK, fontsize=11, fontweight="bold")
        return single

    return _panels.figure(name, {column: (_columns(runs)[column], single) for column, single in singles.items()})


def _single(name: str, reading: Reading) -> Any:
    if not reading.applies:
        return None
    from bugzoo import plots

    canvas = plots.figure(HEIGHT)
    draw(name, reading.numbers, canvas)
    return canvas if canvas.axes else None


def _columns(runs: Runs) -> Mapping[str, Reading]:
    return {"": runs} if isinstance(runs, Reading) else runs


def _empty(runs: Mapping[str, Reading]) -> list[str]:
    """Return a line for each run in which nothing was measured."""
    return [
        f"{column and f'{column}: '}nothing to see: {reading.why_not}"
        for column, reading in runs.items()
        if not reading.applies
    ]
