"""The size of a lesson: minutes, cells of code, and lines of code that a learner sees, each with its limit."""

from typing import NamedTuple

from bugzoo.course.cells import Cell
from bugzoo.course.source import ASKS, Lesson

LINES = 120
"""Most lines of code in open cells."""
CELLS = 30
"""Most open cells of code: a question counts as one, and so does a task with its check."""
LONGEST = 12
"""Most lines of code in one open cell."""
MINUTES = {"01": 30}
"""Most minutes of single lessons: the first one is the easiest."""
MOST_MINUTES = 40
"""Most minutes of every other lesson."""


class Size(NamedTuple):
    """How long a lesson is. `cells` and `lines` are those of open cells of code."""

    minutes: int
    cells: int
    lines: int
    predictions: int


def open_cells(lesson: Lesson) -> list[Cell]:
    """Return the cells of code that a learner sees open: questions and tasks, too."""
    return [cell for cell in lesson.cells if cell.kind in ("code", "task", *ASKS)]


def code_lines(cell: Cell) -> int:
    """Return the lines of an open cell, without blanks and comments. A question and a task's check are one line each."""
    if cell.kind in ASKS:
        return 1
    lines = sum(bool(line.strip()) and not line.lstrip().startswith("#") for line in cell.text.splitlines())
    return lines + (cell.kind == "task")


def size(lesson: Lesson) -> Size:
    """Return the size of a lesson."""
    cells = open_cells(lesson)
    predictions = len(lesson.of("predict")) + len(lesson.of("draw"))
    return Size(round(lesson.minutes), len(cells), sum(map(code_lines, cells)), predictions)


def over(lesson: Lesson) -> list[str]:
    """Return where a numbered lesson is longer than it may be, as sentences."""
    if not lesson.number.isdigit():
        return []
    minutes, cells, lines, _ = size(lesson)
    limits = {
        "minutes": (minutes, MINUTES.get(lesson.number, MOST_MINUTES)),
        "open cells of code": (cells, CELLS),
        "lines of code in open cells": (lines, LINES),
    }
    problems = [
        f"{lesson.file.name}: {number} {what}, and at most {most} are allowed"
        for what, (number, most) in limits.items()
        if number > most
    ]
    return problems + [
        f"{lesson.where(cell)}: {code_lines(cell)} lines of code in one open cell, and at most {LONGEST} are allowed"
        for cell in open_cells(lesson)
        if code_lines(cell) > LONGEST
    ]
