"""The notebooks of an assignment, from the exercises' builder: the student's, the solution, the instructor's.

Apart from the program's own cells and the ticket, the student's notebook is the same for every fault. The function
`leaks` checks this each time a notebook is built.
"""

import json
import re
import textwrap
from typing import Any

from bugzoo import faults
from bugzoo.errors import UserError
from bugzoo.grading.notebook import notebook
from bugzoo.grading.set_aside import SAID
from bugzoo.grading.workbench import packed
from bugzoo.instructor.diagnosis_cell import ANSWER
from bugzoo.instructor.form_records import FORMS
from bugzoo.instructor.key import Answer
from bugzoo.instructor.model import Assignment
from bugzoo.templates import blocks

_SETUP = """%load_ext bugzoo.grading.workbench
from bugzoo.instructor import cell"""


def build(assignment: Assignment, kind: str, answers: list[Answer], about: dict[str, Any] | None = None) -> str:
    """Return the notebook as JSON text. `kind` is student, solution or instructor; `about` joins `metadata.bugzoo`."""
    name, ticket = assignment.name, assignment.scenario.ticket
    source = assignment.solution if kind == "solution" else assignment.source
    written = blocks("bugzoo.instructor", "notebook.md.j2", person=SAID)
    texts = {cell.replace("_", "-"): text for cell, text in written.items()} | {
        "setup": _SETUP,
        "program-text": _text(assignment),
        "form": f'first, second, third = cell.forms("{ticket}")',
        "diagnosis-answer": _answer(answers, kind),
        "repair": f'cell.repair("{name}", program, "{assignment.program}")',
        "diagnosis": f'cell.diagnosis("{name}", {", ".join(FORMS)})',
    }
    return notebook(assignment, source, ticket, texts, {"assignment": name} | (about or {}))


def _text(assignment: Assignment) -> str:
    """Return the cell with the program as handed out, so that it can be run before its code is read."""
    lines = "\n".join(textwrap.wrap(packed(assignment.source), 100))
    case = assignment.scenario
    return (
        f'program.hand_out(\n    "{assignment.program}",\n    "{case.ticket}",\n    """\n{lines}\n""",\n'
        f'    seed={assignment.seed},\n    size="{assignment.size}",\n    ranks={case.ranks},\n)'
    )


def _answer(answers: list[Answer], kind: str) -> str:
    if kind == "student":
        return ANSWER
    calls = []
    for form, answer in zip(FORMS, answers, strict=False):
        calls.append(
            f"{form}.hand_in(\n    cause={json.dumps(answer.cause)},\n    place={answer.places[0][0]},\n"
            f"    evidence={json.dumps(answer.evidence[:1])},\n)"
        )
    text = "\n".join(f"handed_in = {call}" if call is calls[-1] else call for call in calls)
    return f"### BEGIN SOLUTION\n{text}\n### END SOLUTION" if kind == "instructor" else text


def leaks(student: str, assignment: Assignment) -> list[str]:
    """Return what in a student's notebook gives the faults away; empty if nothing does.

    The notebook must not contain the id or name of any fault, in any spelling. The instructor's title and story must
    not name a fault's family either. Everything else must equal the notebook around the healthy program.
    """
    problems = []
    plain = _words(student)
    for fault_id in faults.catalogue():
        stem = fault_id.rsplit("/", 1)[-1]
        if f" {_words(stem)} " in f" {plain} " or fault_id in student:
            problems.append(f"it contains the name of {fault_id}")
    words = _words(f"{assignment.title} {assignment.story}").split()
    for fault, _ in assignment.scenario.specs:
        if fault.family in words:
            problems.append(f"title or story contain {fault.family!r}, the family of {fault.id}")
    if _around(student) != _around(build(_healthy_twin(assignment), "student", [], _about(student))):
        problems.append("it differs from the notebook around the healthy program, not only in the program's cells")
    return problems


def refuse_leaks(student: str, assignment: Assignment) -> None:
    """Raise UserError if a student's notebook gives the faults away."""
    if problems := leaks(student, assignment):
        reasons = "; ".join(problems)
        raise UserError(f"The student's notebook gives the answer away: {reasons}. Choose another --title or --story.")


class _Healthy(Assignment):
    """The same assignment with the healthy program."""

    @property
    def source(self) -> str:
        return self.solution


def _healthy_twin(assignment: Assignment) -> Assignment:
    fields = ("program", "faults", "seed", "title", "story", "points", "size")
    return _Healthy(**{name: getattr(assignment, name) for name in fields})


def _words(text: str) -> str:
    """Return lower-case words, however joined: `double_softmax`, `Double softmax`, `double-softmax` are equal."""
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


def _about(text: str) -> dict[str, Any]:
    about = dict(json.loads(text)["metadata"]["bugzoo"])
    about.pop("ticket", None)
    return about


def _around(text: str) -> str:
    """Return a notebook without the program's own cells."""
    document = json.loads(text)
    document["cells"] = [cell for cell in document["cells"] if not cell["id"].startswith("program-")]
    return json.dumps(document, sort_keys=True)
