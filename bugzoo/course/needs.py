"""Which cells of a lesson another cell needs, by the names that each binds, uses and changes."""

from bugzoo.course.cells import Cell
from bugzoo.course.names import changes, names_of, needs
from bugzoo.course.source import ASKS, Lesson


def script(lesson: Lesson, cell: Cell) -> list[str]:
    """Return the code of the earlier cells that a cell needs, in order, with the tasks solved. The cell itself is not in it."""
    return [_code(lesson, earlier) for earlier in needed(lesson, cell)]


def needed(lesson: Lesson, cell: Cell) -> list[Cell]:
    """Return the earlier cells that a cell needs, in order."""
    names = needs(cell.text)
    chosen: list[Cell] = []
    for earlier in reversed(lesson.cells[: lesson.cells.index(cell)]):
        if text := _code(lesson, earlier):
            bound = names_of(text)[0]
            if (bound | changes(text)) & names:
                names = (names - bound) | needs(text)
                chosen.append(earlier)
    return chosen[::-1]


def _code(lesson: Lesson, cell: Cell) -> str:
    """Return what a cell runs in a solved notebook; "" for text."""
    if cell.kind in ASKS:
        return lesson.call(cell)
    if cell.kind == "task":
        return lesson.tasks[cell.name].solution
    return cell.text if cell.kind in ("code", "proof", "measured") else ""
