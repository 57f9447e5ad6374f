"""From a declaration to notebooks: the student's, the solution, and the instructor's for nbgrader.

The order is that of a diagnosis: ticket, a look at the run, a hypothesis, the code (folded), more evidence, the diagnosis, the
repair, the debrief. Nothing here is edited by hand afterwards; the same declaration gives the same bytes.
"""

from typing import Any, Protocol

from bugzoo.grading.answers import accepted, filled
from bugzoo.grading.grade import handed_out
from bugzoo.grading.model import Exercise
from bugzoo.grading.program import cell_heads, split
from bugzoo.notebooks import code, markdown, to_text
from bugzoo.notebooks import notebook as of_cells

KINDS = ("student", "solution", "instructor")
STUB = "# Here by code, where the form above is not enough: YOUR CODE HERE"
"""What stands where a solution was: nothing that fails beside a form that is filled in. `nbgrader_config.py` says the same."""
_DIAGNOSIS = (
    "## Your diagnosis\n\nFill in the form and press Hand in; you can do so again. If you find nothing wrong, say so: blaming a "
    "healthy program earns nothing. The form's last question asks which test would tell your cause from the one that looks most "
    "like it.\n\n*Only where a class is graded:* hand in by code, in the cell below the form: "
    '`form.hand_in(cause="...", place=<line or None>, step=<step or None>, test="A", evidence=["first instrument", ...])`. '
    "`form.causes` and `form.tests` list what can be chosen; the first test is A."
)
FOLDED = {"jupyter": {"source_hidden": True}}
"""JupyterLab shows such a cell as a bar; a click on it opens it."""


def build(exercise: Exercise, kind: str = "student", source: str = "", answer: str = "") -> str:
    """The notebook as JSON text, without outputs. `source`, `answer`: another program and another filled-in form."""
    source = source or (accepted(exercise)["solution"] if kind == "solution" else handed_out(exercise))
    name = exercise.name
    own = {
        "setup": f'{_SETUP}\n\nprogram.begin("{name}")',
        "hypothesis": f'hypothesis = cell.hypothesis("{name}")',
        "hints": f'hints = cell.hints("{name}")',
        "diagnosis-text": _DIAGNOSIS,
        "form": f'form = cell.form("{name}")',
        "diagnosis-answer": answer or _answer(filled(exercise), kind),
        "repair": f'{_GRADER}\n\ncell.repair("{name}")',
        "diagnosis": f'{_GRADER}\n\ncell.diagnosis("{name}")',
        "debrief": f'cell.debrief("{name}")',
    }
    return notebook(exercise, source, exercise.scenario.ticket, own)


class Asked(Protocol):
    """What the notebook around a program says of it: an exercise, or an assignment."""

    @property
    def title(self) -> str: ...
    @property
    def story(self) -> str: ...
    @property
    def points(self) -> tuple[float, float]: ...


def notebook(asked: Asked, source: str, ticket: str, own: dict[str, str], about: dict[str, Any] | None = None) -> str:
    """The notebook around a program's text.

    `own`: cell id -> its text, where the template has none; a cell of those that is not in it is left out, with the text
    above it. `about` joins the notebook's metadata.
    """
    sections = split(source)
    program = [
        code(f"program-{section.lower().replace(' ', '-')}", f"{head}\n{sections[section]}", **FOLDED)
        for section, head in cell_heads(sections).items()
    ]
    cells = [
        markdown("title", f"# {asked.title}\n\nTicket **{ticket}**\n\n{asked.story}\n\n{_HOW}"),
        code("setup", own["setup"]),
        *([code("program-text", own["program-text"], **FOLDED)] if "program-text" in own else []),
        markdown("look-text", _LOOK),
        code("look", "view = program.run()"),
        code("numbers", "program.numbers()"),
        code("instruments", "program.instruments()"),
        code("instrument", 'numbers = program.instrument("loss_curve")'),
        markdown("hypothesis-text", _HYPOTHESIS),
        code("hypothesis", own["hypothesis"]),
        markdown("code-text", _CODE),
        *program,
        markdown("more-text", _MORE),
        code("more", '# numbers = program.instrument("...")\n# program.lines()  # the program with its line numbers'),
        markdown("hints-text", _HINTS),
        code("hints", own.get("hints", "")),
        markdown("diagnosis-text", own["diagnosis-text"]),
        code("form", own["form"]),
        code("diagnosis-answer", own["diagnosis-answer"], **_asked("diagnosis-answer")),
        markdown("grading-text", own.get("grading-text", GRADING)),
        code("repair", own["repair"], **_asked("repair", asked.points[0])),
        code("diagnosis", own["diagnosis"], **_asked("diagnosis", asked.points[1])),
        markdown("debrief-text", _DEBRIEF),
        code("debrief", own.get("debrief", "")),
    ]
    without = {one for one in ("hints", "debrief") if one not in own}
    kept = [one for one in cells if one.id.removesuffix("-text") not in without]
    return to_text(of_cells(kept, bugzoo={"ticket": ticket} | (about or {})))


_SETUP = """%load_ext bugzoo.grading.workbench
from bugzoo.grading import cell"""

_GRADER = "from bugzoo.grading import cell"
"""Graded cells stand alone, so that one that is run first says what to do."""

_HOW = (
    "Look at the run first, then say what you think it is and how sure you are; then read the code, hand in a diagnosis, and "
    "repair the program. Perhaps nothing is wrong. Run the next cell to begin."
)

_LOOK = (
    "## Look\n\n`program.run()` trains the program in a process of its own, drawn over a healthy run of it; Stop ends it. "
    "`program.numbers()` prints it in ten parts. `program.instruments()` lists the instruments with their questions, and "
    "`program.instrument(name)` gives numbers, what is usual, and a picture: what they mean is for you to say, until your "
    "diagnosis is handed in. The notebook notes what you look at."
)

_HYPOTHESIS = (
    "## What do you think?\n\nBefore you look further: what is it, and how sure are you? It is noted with what you have seen "
    "so far. Change it whenever the evidence changes your mind."
)

_CODE = (
    "## The program\n\nIts code stands in the cells below, folded: a click on the bar opens one. Running such a cell keeps its "
    "text; `program.run()` above is what trains it, always from the beginning."
)

_MORE = "## More evidence\n\nWhich instrument would show something else if you were wrong? Ask as many as you like."

_HINTS = (
    "## Hints\n\nThree of them, from a nudge to the place. They take no points: the price on the button is there so that you "
    "think once more before you press it, and the form notes how many you opened. Skip this cell if you want none."
)

GRADING = (
    "## Repair\n\nIt opens with your diagnosis, right or wrong. Change the program's cells above and run them; `program.run()` "
    "shows what came of it. Then the first cell below judges it: it is run on several seeds in a process of its own, by what it "
    "does: its instruments, its result on data that it never saw, and that budget, data and size are what they were. Write it "
    "as you like; three names are asked for and have to stay: `seed`, `model` and `metrics`."
)
"""Above the graded cells."""

_DEBRIEF = (
    "## Debrief\n\nWhy, the run before and after, what it could have been, and what comes next. It opens with a repair that "
    "passes."
)


def _answer(right: dict[str, Any], kind: str) -> str:
    if kind == "student":
        return STUB
    given = "\n".join(f"    {name}={value!r}," for name, value in right.items())
    text = f"filled = form.hand_in(\n{given}\n)".replace("'", '"')
    return f"### BEGIN SOLUTION\n{text}\n### END SOLUTION" if kind == "instructor" else text


def _asked(name: str, points: float | None = None) -> dict[str, Any]:
    """nbgrader's metadata: of a cell that grades where there are points, else of one that is to be filled in."""
    graded = points is not None
    about = {
        "schema_version": 3, "grade": graded, "grade_id": name, "locked": graded, "solution": not graded, "task": False,
    }  # fmt: skip
    if not graded:
        return {"nbgrader": about, "deletable": False}
    return {
        "nbgrader": about | {"points": points},
        "editable": False,
        "deletable": False,
    }  # as nbgrader's release has them
