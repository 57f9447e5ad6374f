"""How hard an exercise is, and how long it takes: an estimate from what its notebook shows. No reader was timed."""

import re
from collections.abc import Sequence
from typing import Any

from bugzoo.grading.model import Exercise

HARDEST = 5
"""The highest level."""
WORDS = 150
"""Words of text read in a minute, as in a lesson."""
LINES = 15
"""Lines of code read in a minute."""
WORK = 5
"""Minutes for each level: to look, to try, to repair, and to wait for the grader."""


def level(exercise: Exercise) -> int:
    """Return how hard an exercise is, from 1 to 5: the level of its fault, or of its trap where nothing is wrong.

    Of two faults it is one more than that of the harder one. A decoy adds nothing, and a *break* and a *five* have the level
    of their fault. So a *repair*, a *nothing* and a *decoy*, whose notebooks look alike, follow one rule.
    """
    levels = [fault.level for fault, _ in exercise.about_faults]
    return min(max(levels) + len(levels) - 1, HARDEST)


def minutes(texts: Sequence[str], source: str, level: int) -> int:
    """Return the estimated minutes, rounded to 5: words / 150 + lines of code / 15 + 5 * level.

    `texts`: the notebook's texts with the ticket; `source`: the program as handed out, "" for none. Empty lines are not
    counted. Nothing goes in but what a learner sees and the level, so the minutes tell no more of the cause than these.
    """
    words = sum(len(text.split()) for text in texts)
    lines = sum(bool(line.strip()) for line in source.splitlines())
    return 5 * round((words / WORDS + lines / LINES + WORK * level) / 5)


def stated(exercise: Exercise, cells: Sequence[Any], source: str) -> dict[str, int]:
    """Return level and minutes as the notebook's metadata hold them, for `bugzoo list` and the map."""
    texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
    return {"level": level(exercise), "minutes": minutes(texts, source, level(exercise))}


def show(title: Any, stated: dict[str, int], lesson: int) -> None:
    """Add level and minutes to the line of the ticket in the first cell, and the lesson that an exercise names; 0 for none."""
    label = f"level {stated['level']} of {HARDEST}, about {stated['minutes']} minutes"
    label += f" · for lesson {lesson:02}" if lesson else ""
    title.source = re.sub(r"^Ticket \*\*.*\*\*$", rf"\g<0> · {label}", title.source, count=1, flags=re.MULTILINE)
