"""The notebooks of an assignment, made by the exercises' builder: the student's, the solution, the instructor's.

Apart from the program's own cells and the ticket, the student's notebook is the same whatever is wrong in it: that is
checked each time one is made (`leaks`).
"""

import json
import re
import textwrap
from typing import Any

from bugzoo import faults
from bugzoo.errors import UserError
from bugzoo.grading.notebook import GRADING, STUB, notebook
from bugzoo.grading.workbench import packed
from bugzoo.instructor.key import Answer
from bugzoo.instructor.model import Assignment

FORMS = ("first", "second", "third")

_SETUP = """%load_ext bugzoo.grading.workbench
from bugzoo.instructor import cell"""

_DIAGNOSIS = """## Your diagnosis

Perhaps one thing is wrong, perhaps two or three: there is a form for each, and those that you do not need stay empty.
`second.show()` opens the next one. A finding counts when its cause is right; the line (as `program.lines()` prints it for
the program as you got it) and an instrument that shows it make it whole. Blaming what is healthy costs half of
a finding.

The forms are for you. What is handed in is the cell below them, one call for each finding:

`first.hand_in(cause="...", place=<line>, evidence=["first instrument", ...])`"""

_LOCKED = """The next two cells belong to the grader; what you change in them does not count. Here they tell you whether the
program is whole again, all or nothing; the instructor's grader also gives points for a part of the repair."""


def build(assignment: Assignment, kind: str, answers: list[Answer], about: dict[str, Any] | None = None) -> str:
    """The notebook as JSON text. `kind` is student, solution or instructor; `about` joins `metadata.bugzoo`."""
    name, ticket = assignment.name, assignment.scenario.ticket
    source = assignment.solution if kind == "solution" else assignment.source
    own = {
        "setup": _SETUP,
        "program-text": _text(assignment),
        "hypothesis": f'hypothesis = cell.hypothesis("{ticket}")',
        "diagnosis-text": _DIAGNOSIS,
        "form": f'first, second, third = cell.forms("{ticket}")',
        "diagnosis-answer": _answer(answers, kind),
        "grading-text": f"{GRADING}\n\n{_LOCKED}",
        "repair": f'cell.repair("{name}", program, "{assignment.program}")',
        "diagnosis": f'cell.diagnosis("{name}", {", ".join(FORMS)})',
    }
    return notebook(assignment, source, ticket, own, {"assignment": name} | (about or {}))


def _text(assignment: Assignment) -> str:
    """The cell that gives the notebook the program as it is handed out, so that it can be run before its code is read."""
    lines = "\n".join(textwrap.wrap(packed(assignment.source), 100))
    case = assignment.scenario
    return (
        f'program.hand_out(\n    "{assignment.program}",\n    "{case.ticket}",\n    """\n{lines}\n""",\n'
        f'    seed={assignment.seed},\n    size="{assignment.size}",\n    ranks={case.ranks},\n)'
    )


def _answer(answers: list[Answer], kind: str) -> str:
    if kind == "student":
        return STUB
    calls = []
    for form, answer in zip(FORMS, answers, strict=False):
        calls.append(
            f"{form}.hand_in(\n    cause={json.dumps(answer.cause)},\n    place={answer.places[0][0]},\n"
            f"    evidence={json.dumps(answer.evidence[:1])},\n)"
        )
    text = "\n".join(f"handed_in = {call}" if call is calls[-1] else call for call in calls)
    return f"### BEGIN SOLUTION\n{text}\n### END SOLUTION" if kind == "instructor" else text


def leaks(student: str, assignment: Assignment) -> list[str]:
    """What in a student's notebook gives the faults away; empty when nothing does.

    No id and no name of any fault of the catalogue stands anywhere, in whatever spelling. The title and the story, which
    the instructor wrote, do not name a family either. Everything else is what it would be around the healthy program.
    """
    found = []
    plain = _words(student)
    for fault_id in faults.catalogue():
        stem = fault_id.rsplit("/", 1)[-1]
        if f" {_words(stem)} " in f" {plain} " or fault_id in student:
            found.append(f"the name of {fault_id} stands in it")
    said = _words(f"{assignment.title} {assignment.story}").split()
    for fault, _ in assignment.scenario.specs:
        if fault.family in said:
            found.append(f"title or story say {fault.family!r}, the family of {fault.id}")
    if _around(student) != _around(build(_healthy_twin(assignment), "student", [], _about(student))):
        found.append("apart from the program it differs from the same notebook around a healthy program")
    return found


def refuse_leaks(student: str, assignment: Assignment) -> None:
    """Raises UserError when a student's notebook says what is wrong."""
    if found := leaks(student, assignment):
        raise UserError(
            f"The student's notebook would give the answer away: {'; '.join(found)}. Choose another --title or --story."
        )


class _Healthy(Assignment):
    """The same assignment with the healthy program in it."""

    @property
    def source(self) -> str:
        return self.solution


def _healthy_twin(assignment: Assignment) -> Assignment:
    fields = ("program", "faults", "seed", "title", "story", "points", "size")
    return _Healthy(**{name: getattr(assignment, name) for name in fields})


def _words(text: str) -> str:
    """Lower-case words, whatever joined them: `double_softmax`, `Double softmax` and `double-softmax` are alike."""
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


def _about(text: str) -> dict[str, Any]:
    about = dict(json.loads(text)["metadata"]["bugzoo"])
    about.pop("ticket", None)
    return about


def _around(text: str) -> str:
    """A notebook without the program's own cells."""
    made = json.loads(text)
    made["cells"] = [one for one in made["cells"] if not one["id"].startswith("program-")]
    return json.dumps(made, sort_keys=True)
