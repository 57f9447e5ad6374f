"""From a declaration to notebooks: the student's, the solution, and the instructor's for nbgrader.

Nothing here is edited by hand afterwards; the same declaration gives the same bytes.
"""

import json
import textwrap
from typing import Any

from bugzoo import programs
from bugzoo.diagnostics import names
from bugzoo.grading.edits import apply
from bugzoo.grading.grade import handed_out, scenario_of
from bugzoo.grading.model import Exercise
from bugzoo.grading.program import cell_heads, split
from bugzoo.notebooks import code, markdown, to_text
from bugzoo.notebooks import notebook as of_cells

KINDS = ("student", "solution", "instructor")
STUB = "# YOUR CODE HERE\nraise NotImplementedError()"
"""What nbgrader puts where a solution was."""


def build(exercise: Exercise, kind: str = "student") -> str:
    """The notebook as JSON text, without outputs."""
    source = handed_out(exercise)
    if kind == "solution":
        source = apply(source, exercise.solution)
    return notebook(exercise, source, kind, scenario_of(exercise).ticket)


def notebook(
    exercise: Exercise,
    source: str,
    kind: str,
    ticket: str,
    graders: dict[str, str] | None = None,
    instead: dict[str, str | None] | None = None,
    about: dict[str, Any] | None = None,
) -> str:
    """The notebook around a program's text. `graders`: the sources of the graded cells, where they are not the usual.

    `instead`: cell id -> another text for that cell, None to leave the cell out; `about` joins the notebook's metadata.
    """
    instead = instead or {}
    name, sections = exercise.name, split(source)
    ranks = int(programs.load(exercise.program).facts.get("ranks", 1))
    answer = instead.get("diagnosis-answer") or _answer(exercise, kind)
    cells = [markdown("title", _title(exercise, ticket)), code("setup", _SETUP)]
    for section, head in cell_heads(sections).items():
        cells.append(code(f"program-{section.lower().replace(' ', '-')}", f"{head}\n{sections[section]}"))
    graders = graders or {
        "repair": f'{_GRADER}\n\ncell.repair("{name}")',
        "diagnosis": f'{_GRADER}\n\ncell.diagnosis("{name}")',
    }
    cells += [
        markdown("look-text", _look()),
        code("look", f'view = lab.live(program.source, healthy=Scenario("{exercise.program}"{_settings(exercise)}))'),
        code("instruments", "# program.lines() prints line numbers; each instrument runs the program once\n"
              'numbers = program.instrument("loss_curve")'),
        markdown("hints-text", "## Hints\n\nThree of them, from a nudge to the place. Each costs something in your own eyes. "
                  "Leave this cell out if you want none; what is opened in it, the form below counts."),
        code("hints", f'hints = Hints(cell.hints("{name}"), ticket="{ticket}").show()' if name else "hints = None"),
        markdown("diagnosis-text", _diagnosis_text(exercise)),
        code("form", f'form = DiagnosisForm("{ticket}").show()'),
        code("diagnosis-answer", answer, **_asked("diagnosis-answer"), tags=["raises-exception"]),
        markdown("grading-text", GRADING),
        code("repair", graders["repair"], **_asked("repair", exercise.points[0])),
        code("diagnosis", graders["diagnosis"], **_asked("diagnosis", exercise.points[1])),
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


def _look() -> str:
    """Names every instrument that the form offers: what can be handed in can be looked at."""
    listed = textwrap.fill(", ".join(f"`{name}`" for name in names()) + ".", 118, break_long_words=False)
    return (
        "## Look first\n\nThe run beside its healthy twin, and instruments one by one. Those that have nothing to measure "
        f"in this program say so. There are:\n\n{listed}\n\nNote which ones you looked at, and in which order: the form "
        "below offers the same names."
    )


def _title(exercise: Exercise, ticket: str) -> str:
    return (
        f"# {exercise.title}\n\nTicket **{ticket}**\n\n{exercise.story}\n\n"
        "The program stands in the cells below, as ordinary Python. Find out what is wrong, if anything is; say what shows "
        "it; then change the program's own cells and run them again. `%%program` "
        "runs its cell as it stands and keeps its text: what the grader judges are these cells as they were last run."
    )


def _diagnosis_text(exercise: Exercise) -> str:
    tests = "\n".join(f"- **{letter}** {text}" for letter, text in zip("ABCDEFG", exercise.answers.tests, strict=False))
    return (
        "## Your diagnosis\n\nFill in the form, or the cell below it. A healthy program is healthy: blaming one costs its "
        f"points. Which of these tests tells the cause from what looks like it?\n\n{tests}\n\n"
        '`form.hand_in(cause="...", place=<line or None>, step=<step or None>, evidence=["first instrument", ...], test="A")`; '
        "`form.causes` holds the causes that can be named."
    )


def _answer(exercise: Exercise, kind: str) -> str:
    if kind == "student":
        return STUB
    from bugzoo.grading.answers import places

    right = exercise.answers
    place = None if exercise.trap else places(exercise)[0][0]
    step = right.step[0] if right.step else None
    text = (
        f"filled = form.hand_in(\n    cause={right.cause!r},\n    place={place},\n    step={step},\n"
        f"    evidence=[{right.evidence[0]!r}],\n    test={right.test!r},\n)"
    ).replace("'", '"')
    return f"### BEGIN SOLUTION\n{text}\n### END SOLUTION" if kind == "instructor" else text


def _settings(exercise: Exercise) -> str:
    return f", settings={json.dumps(exercise.settings)}" if exercise.settings else ""


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
