"""The notebook of a *five*: curves, readings, the answer, the graded cell and the debrief. No program, and no device."""

from typing import Any

from bugzoo.grading.kinds.five import answers as fives
from bugzoo.grading.model import Exercise
from bugzoo.grading.notebook import GRADER, graded
from bugzoo.notebooks import code, markdown

HOW = (
    "You get five recorded runs: their curves and their readings, and no code. At most one of them is broken. Say which one, "
    "what is wrong with it, and which view told you. Run the next cell to begin."
)

CURVES = (
    "## The curves\n\nAll five losses on one scale, and their means over ten parts of the run. They cost nothing. Which run "
    "would you look at first, and what would you have to see there?"
)

READINGS = (
    f"## Readings\n\nA view of one run is a reading: numbers beside their usual ranges, and a picture. The first "
    f"{fives.FREE} readings are free, enough to compare all runs in one view. Each further one costs {fives.PRICE:.0%} of the "
    f"points, and all of them together at most {fives.MOST:.0%}. A reading that you opened before costs nothing. So ask first "
    'which number you want. `numbers = runs.look("batch", 1)` in a cell of its own does the same as the buttons. The '
    "[glossary](../notebooks/glossary.ipynb) explains the words."
)

ANSWER = (
    "## Your answer\n\nPerhaps all five are healthy. Then choose no cause, and name a view that you opened for every run. "
    "The first complete answer is graded; later ones are practice. A wrong run earns nothing. With the right run you get "
    f"{fives.WORTH['run']:.0%} of the points, {fives.WORTH['cause']:.0%} more for the cause, and "
    f"{fives.WORTH['reading']:.0%} more for a view that tells: a number in it is outside its usual range in this run and "
    "in no other.\n\n*Only for a graded class:* hand in by code, in the cell below the form: "
    '`runs.hand_in(run=<1 to 5, or 0 for none>, cause="...", reading="...")`. Open your readings with `runs.look` there too: '
    "buttons leave no trace in a notebook that is handed in. `runs.causes` lists the causes."
)

GRADING = "## Points\n\nThis cell grades your first complete answer. A try that cannot be graded costs nothing."

DEBRIEF = (
    "## Debrief\n\nWhat each of the five runs was, what was wrong, the views that tell, look-alikes, and the next exercise. "
    "It opens once you have handed in a complete answer."
)


def cells(exercise: Exercise, answer: str) -> list[Any]:
    """Return the cells. `answer`: text of the cell to fill in."""
    name = exercise.name
    return [
        markdown("title", f"# {exercise.title}\n\nTicket **{exercise.scenario.ticket}**\n\n{exercise.story}\n\n{HOW}"),
        code("setup", f'{GRADER}\n\nruns = cell.five("{name}")'),
        markdown("curves-text", CURVES),
        code("curves", "runs.curves()"),
        markdown("readings-text", READINGS),
        code("views", "runs.views()"),
        code("readings", "runs.readings()"),
        markdown("answer-text", ANSWER),
        code("form", "runs.form()"),
        code("diagnosis-answer", answer, **graded("diagnosis-answer")),
        markdown("grading-text", GRADING),
        code("diagnosis", f'{GRADER}\n\ncell.diagnosis("{name}")', **graded("diagnosis", exercise.points[1])),
        markdown("debrief-text", DEBRIEF),
        code("debrief", f'cell.debrief("{name}")'),
    ]


def solved(exercise: Exercise) -> str:
    """Return the solution's answer: one view of every run, then the call."""
    right = fives.filled(exercise)
    looks = f'for number in range(1, {fives.RUNS + 1}):\n    runs.look("{right["reading"]}", number)\n'
    given = ", ".join(f"{name}={value!r}" for name, value in right.items()).replace("'", '"')
    return f"{looks}filled = runs.hand_in({given})"
