"""From a declaration to notebooks: the student's, the solution, and the instructor's for nbgrader.

Nothing here is edited by hand afterwards; the same declaration gives the same bytes.
"""

import json
from typing import Any, Protocol

from bugzoo import programs
from bugzoo.choices import LETTERS, Choices
from bugzoo.grading.answers import accepted, filled, offered
from bugzoo.grading.grade import handed_out
from bugzoo.grading.model import Exercise
from bugzoo.grading.program import cell_heads, split
from bugzoo.notebooks import code, markdown, to_text
from bugzoo.notebooks import notebook as of_cells

KINDS = ("student", "solution", "instructor")
STUB = "# YOUR CODE HERE\nraise NotImplementedError()"
"""What nbgrader puts where a solution was."""


def build(exercise: Exercise, kind: str = "student", source: str = "", answer: str = "") -> str:
    """The notebook as JSON text, without outputs. `source`, `answer`: another program and another filled-in form."""
    source = source or (accepted(exercise)["solution"] if kind == "solution" else handed_out(exercise))
    settings = f", settings={json.dumps(dict(exercise.settings))}" if exercise.settings else ""
    instead: dict[str, str | None] = {
        "look": f'view = lab.live(program.source, healthy=Scenario("{exercise.program}"{settings}))',
        "diagnosis-text": _diagnosis_text(offered(exercise)),
        "diagnosis-answer": answer or _answer(filled(exercise), kind),
    }
    return notebook(exercise, source, exercise.scenario.ticket, instead)


class Asked(Protocol):
    """What the notebook around a program says of it: an exercise, or an assignment."""

    @property
    def title(self) -> str: ...
    @property
    def story(self) -> str: ...
    @property
    def program(self) -> str: ...
    @property
    def points(self) -> tuple[float, float]: ...
    @property
    def name(self) -> str: ...


def notebook(
    asked: Asked,
    source: str,
    ticket: str,
    instead: dict[str, str | None],
    graders: dict[str, str] | None = None,
    about: dict[str, Any] | None = None,
) -> str:
    """The notebook around a program's text.

    `instead`: cell id -> the text of that cell, None to leave the cell out; what is asked in "diagnosis-text" and answered
    in "diagnosis-answer" has no usual text. `graders`: the sources of the graded cells, where they are not the usual;
    `about` joins the notebook's metadata.
    """
    name, sections = asked.name, split(source)
    ranks = int(programs.load(asked.program).facts.get("ranks", 1))
    cells = [markdown("title", _title(asked, ticket)), code("setup", _SETUP)]
    for section, head in cell_heads(sections).items():
        cells.append(code(f"program-{section.lower().replace(' ', '-')}", f"{head}\n{sections[section]}"))
    graders = graders or {
        "repair": f'{_GRADER}\n\ncell.repair("{name}")',
        "diagnosis": f'{_GRADER}\n\ncell.diagnosis("{name}")',
    }
    cells += [
        markdown("look-text", LOOK),
        code("look", f'view = lab.live(program.source, healthy=Scenario("{asked.program}"))'),
        code("instruments", "program.instruments()  # program.lines() prints the program with its line numbers\n"
              'numbers = program.instrument("loss_curve")  # runs the program once'),
        markdown("hints-text", "## Hints\n\nThree of them, from a nudge to the place. Each costs something in your own eyes. "
                  "Leave this cell out if you want none; what is opened in it, the form below counts."),
        code("hints", f'hints = Hints(cell.hints("{name}"), ticket="{ticket}").show()' if name else "hints = None"),
        markdown("diagnosis-text", instead["diagnosis-text"] or ""),
        code("form", f'form = DiagnosisForm("{ticket}").show()'),
        code("diagnosis-answer", instead["diagnosis-answer"] or "", **_asked("diagnosis-answer"), tags=["raises-exception"]),
        markdown("grading-text", GRADING),
        code("repair", graders["repair"], **_asked("repair", asked.points[0])),
        code("diagnosis", graders["diagnosis"], **_asked("diagnosis", asked.points[1])),
    ]  # fmt: skip
    for one in cells:
        one.source = instead.get(one.id) or one.source
        if one.id == "setup" and ranks > 1:
            one.source += (
                f"\n\nprogram.ranks = {ranks}  # it runs on {ranks} processes: its cells are kept here, not run"
            )
    kept = [one for one in cells if one.id not in instead or instead[one.id] is not None]
    return to_text(of_cells(kept, bugzoo={"ticket": ticket} | (about or {})))


_SETUP = """%load_ext bugzoo.grading.program
from bugzoo import Scenario, lab
from bugzoo.grading import cell
from bugzoo.lab import DiagnosisForm, Hints"""

_GRADER = "from bugzoo.grading import cell"
"""Graded cells stand alone, so that one that is run first says what to do."""


GRADING = (
    "## Is it really repaired?\n\nThe program is run on several seeds in a process of its own and judged by what it does: its "
    "instruments, its result on data that it never saw, and that budget, data and size are what they were. Write it as you "
    "like; three names are asked for and have to stay: `seed`, `model` and `metrics`."
)
"""Above the graded cells."""


LOOK = (
    "## Look first\n\nThe run beside its healthy twin, and instruments one by one. `program.instruments()` lists them, each with "
    "its question; those that have nothing to measure in this program say so.\n\nNote which ones you looked at, and in which "
    "order: the form below offers the same names."
)


def _title(asked: Asked, ticket: str) -> str:
    return (
        f"# {asked.title}\n\nTicket **{ticket}**\n\n{asked.story}\n\n"
        "The program stands in the cells below, as ordinary Python. Find out what is wrong, if anything is; say what shows "
        "it; then change the program's own cells and run them again. `%%program` "
        "runs its cell as it stands and keeps its text: what the grader judges are these cells as they were last run."
    )


def _diagnosis_text(choices: Choices) -> str:
    tests = "\n".join(f"- **{letter}** {text}" for letter, text in zip(LETTERS, choices.texts, strict=False))
    return (
        "## Your diagnosis\n\nFill in the form, or the cell below it. A healthy program is healthy: blaming one costs its "
        f"points. Which of these tests tells the cause from what looks like it?\n\n{tests}\n\n"
        '`form.hand_in(cause="...", place=<line or None>, step=<step or None>, evidence=["first instrument", ...], test="A")`; '
        "`form.causes` holds the causes that can be named."
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
