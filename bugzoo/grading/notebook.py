"""Building notebooks from a declaration: the student's, the solution, and the instructor's for nbgrader.

The order follows a diagnosis: ticket, run, hypothesis, code (folded), more evidence, diagnosis, repair, debrief. The
notebooks are not edited by hand; the same declaration gives the same bytes. Tests hold these rules, also for assignments:

- `program.run()` and `program.numbers()` print every number of the ticket. No number is written as a word.
- Symptom first: ticket, live plot over a recorded healthy curve, numbers.
- A view shows its question, numbers, usual ranges and a picture. No word names a cause, before the diagnosis or after it. The
  debrief says what `checkup` would have said.
- No call, `repr` or completion shows the healthy text. `bugzoo source` asks first.
- `program.run()` is the only way to run the program: a fresh process, a live plot, a Stop button. Cells only save code.
- A learner notes a guess, and how sure it is, before more evidence. The notebook notes what was opened.
- Causes and tests come from look-alikes, and are about equally long. A question about a test follows every cause. Every true
  cause counts, and so does every line that an accepted repair changes.
- The first complete diagnosis is graded, each part with a whole point. The number that speaks against a wrong cause answers it.
- A repair is graded by what the program does. Before the diagnosis is complete its cell says which groups of checks fail, and
  earns nothing. After it, each check says what was done, what came out and what passes.
- The debrief compares the guesses with the truth, and shows the lines, before and after, look-alikes and what to read.
- It runs from top to bottom without a front end, twice, and after a restart, without an error. No hand-in is lost.
- Its first line chooses the device of `program.run()`. The cells say `device = "cpu"`, and the grader uses the CPU.
"""

import re
from collections.abc import Mapping
from typing import Any, Protocol

from bugzoo.device import LINE
from bugzoo.grading import effort
from bugzoo.grading.model import Exercise
from bugzoo.grading.program import cell_heads, split
from bugzoo.notebooks import code, markdown, to_text
from bugzoo.notebooks import notebook as of_cells
from bugzoo.templates import blocks

KINDS = ("student", "solution", "instructor")
STUB = "# Here by code, where the form above is not enough: YOUR CODE HERE"
"""The stub in place of a solution; it must not raise next to a filled-in form. Also in `nbgrader_config.py`."""
DEVICE = (
    'The numbers of the ticket are from a CPU. On another CPU some differ a little, and on a GPU (`"cuda"`, or `"auto"` where '
    "there is one) perhaps more. The grader uses the CPU."
)
ON_CPU = "This program runs on the CPU on every machine."
FOLDED = {"jupyter": {"source_hidden": True}}
"""JupyterLab shows such a cell as a bar; click it to open the cell."""


def build(exercise: Exercise, kind: str = "student", source: str = "", answer: str = "") -> str:
    """Return the notebook as JSON text, without outputs. `source`, `answer`: another program and filled-in form."""
    cells = exercise.kind.cells(exercise, kind, source, answer)
    student = exercise.kind.cells(exercise, "student", "", "")  # a class's texts take no minutes
    stated = effort.stated(exercise, student, exercise.handed_out if exercise.kind.program else "")
    effort.show(cells[0], stated, exercise.lesson)
    return to_text(of_cells(cells, bugzoo={"ticket": exercise.scenario.ticket} | stated))


def begin(exercise: Exercise) -> dict[str, str]:
    """Return the first cell of an exercise with a program, and the text below it."""
    if exercise.on_cpu:
        return {"setup": f'{_SETUP}\n\nprogram.begin("{exercise.name}")', "device-text": f"{ON_CPU} {exercise.on_cpu}"}
    return {"setup": f'{LINE}\n{_SETUP}\n\nprogram.begin("{exercise.name}", device)', "device-text": DEVICE}


class Asked(Protocol):
    """What a notebook needs to know: an exercise or an assignment."""

    @property
    def title(self) -> str: ...
    @property
    def story(self) -> str: ...
    @property
    def points(self) -> tuple[float, float]: ...


def notebook(asked: Asked, source: str, ticket: str, own: dict[str, str], about: dict[str, Any]) -> str:
    """Return the notebook around an assignment's program, as JSON text. The metadata gets `about`."""
    return to_text(of_cells(around(asked, source, ticket, own, in_class=True), bugzoo={"ticket": ticket} | about))


def around(
    asked: Asked, source: str, ticket: str, own: dict[str, str], folded: bool = True, in_class: bool = False
) -> list[Any]:
    """Return the cells around a program's text.

    `own`: cell id -> text of the cells that the template leaves open. A missing one is left out together with the text
    above it; without a `diagnosis` the form is left out too. `folded`: whether the program's cells begin as bars.
    `in_class`: with what only a graded class reads. Else the cell that nbgrader fills in is a bar as well.
    """
    own, sections = texts("notebook") | own, split(source)
    program, bar = [], FOLDED if folded else {}
    for section, head in cell_heads(sections).items():
        name = f"program-{section.lower().replace(' ', '-')}"
        program.append(code(name, f"{head}\n{sections[section]}", **bar))
    cells = [
        markdown("title", f"# {asked.title}\n\nTicket **{ticket}**\n\n{asked.story}\n\n{own['how']}"),
        code("setup", own["setup"]),
        *([markdown("device-text", own["device-text"])] if "device-text" in own else []),
        *([code("program-text", own["program-text"], **FOLDED)] if "program-text" in own else []),
        markdown("look-text", own["look-text"]),
        code("look", "view = program.run()"),
        code("numbers", "program.numbers()"),
        code("views", "program.views()"),
        code("look-first", own.get("look-first", 'numbers = program.look("loss_curve")')),
        markdown("hypothesis-text", own.get("hypothesis-text", "")),
        code("hypothesis", own.get("hypothesis", "")),
        markdown("code-text", own["code-text"]),
        *program,
        markdown("more-text", own["more-text"]),
        code("more", own.get("more", _LOOK_AT)),
        markdown("hints-text", own["hints-text"]),
        code("hints", own.get("hints", "")),
        markdown("diagnosis-text", for_class(own, "diagnosis", in_class)),
        code("form", own.get("form", "")),
        to_fill_in(own.get("diagnosis-answer", ""), in_class),
        markdown("grading-text", for_class(own, "grading", in_class)),
        code("repair", own["repair"], **graded("repair", asked.points[0])),
        code("diagnosis", own.get("diagnosis", ""), **graded("diagnosis", asked.points[1])),
        markdown("debrief-text", own["debrief-text"]),
        code("debrief", own.get("debrief", "")),
    ]
    without = {cell for cell in ("hypothesis", "hints", "debrief", "diagnosis") if cell not in own}
    without |= {"form", "diagnosis-answer"} if "diagnosis" in without else set()
    return [cell for cell in cells if cell.id.removesuffix("-text") not in without]


_SETUP = """%load_ext bugzoo.grading.workbench
from bugzoo.grading import cell"""

_LOOK_AT = '# numbers = program.look("...")\n# program.lines()  # the program with its line numbers'

GRADER = "from bugzoo.grading import cell"
"""Graded cells import for themselves, so that one that is run first says what to do."""


def texts(kind: str, **values: Any) -> dict[str, str]:
    """Return cell id -> Markdown of the texts in a template, each paragraph in one line."""
    wrapped = blocks("bugzoo.grading", f"{kind}.md.j2", **values)
    return {name.replace("_", "-"): re.sub(r"(?<!\n)\n(?!\n)", " ", text) for name, text in wrapped.items()}


def for_class(own: Mapping[str, str], name: str, in_class: bool) -> str:
    """Return a text, with what only a graded class reads below it."""
    more = own.get(f"{name}-class", "") if in_class else ""
    return "\n\n".join(filter(None, [own.get(f"{name}-text", ""), more]))


def to_fill_in(text: str, in_class: bool) -> Any:
    """Return the cell for a hand-in by code, as nbgrader needs it."""
    return code("diagnosis-answer", text, **graded("diagnosis-answer"), **({} if in_class else FOLDED))


def hand_in(form: str, answer: Mapping[str, Any]) -> str:
    """Return the call that hands in the answer of a form."""
    entries = "\n".join(f"    {name}={value!r}," for name, value in answer.items())
    return f"{form}.hand_in(\n{entries}\n)".replace("'", '"')


def enclosed(text: str, kind: str) -> str:
    """Return a solution's text, between nbgrader's marks in the instructor's version."""
    return f"### BEGIN SOLUTION\n{text}\n### END SOLUTION" if kind == "instructor" else text


def graded(name: str, points: float | None = None) -> dict[str, Any]:
    """Return nbgrader's metadata: for a graded cell if there are points, else for a cell to fill in."""
    has_points = points is not None
    about = {"schema_version": 3, "grade": has_points, "grade_id": name, "locked": has_points}
    about |= {"solution": not has_points, "task": False}
    if not has_points:
        return {"nbgrader": about, "deletable": False}
    # as in nbgrader's release versions
    return {"nbgrader": about | {"points": points}, "editable": False, "deletable": False}
