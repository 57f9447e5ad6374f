"""The notebook of a *five*: curves, readings, the answer, the graded cell and the debrief. No program, and no device."""

from typing import Any

from bugzoo.grading.kinds.five import answers as fives
from bugzoo.grading.model import Exercise
from bugzoo.grading.notebook import GRADER, for_class, graded, texts, to_fill_in
from bugzoo.notebooks import code, markdown


def cells(exercise: Exercise, answer: str, in_class: bool) -> list[Any]:
    """Return the cells. `answer`: text of the cell to fill in. `in_class`: as in `notebook.around`."""
    price, most, worth = (
        f"{fives.PRICE:.0%}",
        f"{fives.MOST:.0%}",
        {part: f"{share:.0%}" for part, share in fives.WORTH.items()},
    )
    name, own = exercise.name, texts("five", free=fives.FREE, price=price, most=most, worth=worth)
    return [
        markdown(
            "title", f"# {exercise.title}\n\nTicket **{exercise.scenario.ticket}**\n\n{exercise.story}\n\n{own['how']}"
        ),
        code("setup", f'{GRADER}\n\nruns = cell.five("{name}")'),
        markdown("curves-text", own["curves-text"]),
        code("curves", "runs.curves()"),
        markdown("readings-text", own["readings-text"]),
        code("views", "runs.views()"),
        code("readings", "runs.readings()"),
        markdown("answer-text", for_class(own, "answer", in_class)),
        code("form", "runs.form()"),
        to_fill_in(answer, in_class),
        markdown("grading-text", own["grading-text"]),
        code("diagnosis", f'{GRADER}\n\ncell.diagnosis("{name}")', **graded("diagnosis", exercise.points[1])),
        markdown("debrief-text", own["debrief-text"]),
        code("debrief", f'cell.debrief("{name}")'),
    ]


def solved(exercise: Exercise) -> str:
    """Return the solution's answer: one view of every run, then the call."""
    right = fives.filled(exercise)
    looks = f'for number in range(1, {fives.RUNS + 1}):\n    runs.look("{right["reading"]}", number)\n'
    arguments = ", ".join(f"{name}={value!r}" for name, value in right.items()).replace("'", '"')
    return f"{looks}filled = runs.hand_in({arguments})"
