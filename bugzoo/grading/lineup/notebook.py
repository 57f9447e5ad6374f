"""From a declaration to notebooks, as `bugzoo.grading.notebook` does for repairs: the same declaration, the same bytes."""

from bugzoo.grading.lineup.answer import filled
from bugzoo.grading.lineup.model import POINTS, Lineup
from bugzoo.grading.notebook import STUB, graded_cell
from bugzoo.notebooks import code, markdown, notebook, to_text

_HOW = (
    "You see five runs and none of their code. Perhaps one is ill, perhaps none is; a run may look odd and be well. Say which, "
    "of what, and what shows it."
)
_LOOK = (
    "## Look\n\nThe next cell trains the five, each once, which takes some seconds the first time, and draws their losses on one "
    "scale; above each stands what it reached on data that it was not trained on."
)
_READ = (
    '## Read\n\n`board.numbers("B")` prints a run in ten parts. `board.instruments()` lists the instruments with their '
    'questions, and `board.instrument("B", "loss_curve")` gives numbers, what is usual, and a picture: what they mean is for '
    "you to say. Compare with a run that you hold for well. The notebook notes what you look at."
)
_ANSWER = (
    "## Your answer\n\nFill in the form and press Hand in; you can do so again. *Only where a class is graded:* hand in by code, "
    'in the cell below it: `board.hand_in("B", cause="...", evidence=["..."])` or `board.hand_in("none")`.'
)
_WORTH = "## What it is worth\n\nHalf of the points are for the run, the rest for its cause and for what shows it."
_DEBRIEF = "## Debrief\n\nWhat each of the five was."


def build(lineup: Lineup, kind: str = "student") -> str:
    """The notebook as JSON text, without outputs; `kind` as for an exercise."""
    name = lineup.name
    cells = [
        markdown("title", f"# {lineup.title}\n\nTicket **{lineup.ticket}**\n\n{lineup.story}\n\n{_HOW}"),
        markdown("look-text", _LOOK),
        code("look", f'from bugzoo.grading import lineup\n\nboard = lineup.board("{name}")'),
        markdown("read-text", _READ),
        code("read", 'board.numbers("A")'),
        code("instrument", 'numbers = board.instrument("A", "loss_curve")'),
        code("more", '# numbers = board.instrument("B", "...")\n# board.instruments()'),
        markdown("answer-text", _ANSWER),
        code("form", "form = board.answer()"),
        code("answer", _given(lineup, kind), **graded_cell("answer")),
        markdown("grading-text", _WORTH),
        code(
            "graded",
            f'from bugzoo.grading import lineup\n\nlineup.graded("{name}")',
            **graded_cell("graded", sum(POINTS)),
        ),
        markdown("debrief-text", _DEBRIEF),
        code("debrief", f'lineup.debrief("{name}")'),
    ]
    return to_text(notebook(cells, bugzoo={"ticket": lineup.ticket}))


def _given(lineup: Lineup, kind: str) -> str:
    if kind == "student":
        return STUB
    right = filled(lineup)
    given = f"{right['run']!r}, cause={right['cause']!r}, evidence={right['evidence']!r}".replace("'", '"')
    text = f"filled = board.hand_in({given})"
    if len(text) > 120:  # as the formatter breaks it
        text = f"filled = board.hand_in(\n    {given}\n)"
    return f"### BEGIN SOLUTION\n{text}\n### END SOLUTION" if kind == "instructor" else text
