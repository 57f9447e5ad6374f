"""How long an exercise takes: an estimate from what its notebook shows, as nobody was timed."""

import re
from collections.abc import Sequence
from typing import Any

from bugzoo.grading.model import HARDEST

WORDS = 150
"""Words of text read in a minute, as in a lesson."""
LINES = 15
"""Lines of code read in a minute."""
WORK = 5
"""Minutes for each level: to look, to try, to repair, and to wait for the grader."""


def minutes(texts: Sequence[str], source: str, level: int) -> int:
    """Return the estimated minutes, rounded to 5: words / 150 + lines of code / 15 + 5 * level.

    `texts`: the notebook's texts with the ticket; `source`: the program as handed out, "" for none. Empty lines are not
    counted. Nothing goes in but what a learner sees and the level, so the minutes tell no more of the cause than these.
    """
    words = sum(len(text.split()) for text in texts)
    lines = sum(bool(line.strip()) for line in source.splitlines())
    return 5 * round((words / WORDS + lines / LINES + WORK * level) / 5)


def stated(cells: Sequence[Any], source: str, level: int) -> dict[str, int]:
    """Return level and minutes as the notebook's metadata hold them, for `bugzoo list` and the map."""
    texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
    return {"level": level, "minutes": minutes(texts, source, level)}


def show(title: Any, stated: dict[str, int]) -> None:
    """Add level and minutes to the line of the ticket in the first cell."""
    told = f"level {stated['level']} of {HARDEST}, about {stated['minutes']} minutes"
    title.source = re.sub(r"^Ticket \*\*.*\*\*$", rf"\g<0> · {told}", title.source, count=1, flags=re.MULTILINE)
