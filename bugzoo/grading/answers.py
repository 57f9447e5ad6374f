"""An exercise's right diagnosis, and what one that was handed in earns."""

from typing import Any

from bugzoo import choices
from bugzoo.choices import Choices
from bugzoo.errors import UserError
from bugzoo.grading import diagnosis as of
from bugzoo.grading.allowances import allowances
from bugzoo.grading.exercises import load
from bugzoo.grading.grade import handed_out, healthy_text
from bugzoo.grading.model import Check, Exercise, Result
from bugzoo.grading.repairs import repairs


def accepted(exercise: Exercise) -> dict[str, str]:
    """Name -> text of every repair that passes; the solution, which is the healthy text, comes first."""
    broken = handed_out(exercise)
    solution = broken if exercise.trap else healthy_text(exercise)
    return {"solution": solution} | repairs(broken, *exercise.about_fault)


def offered(exercise: Exercise) -> Choices:
    """The discriminating tests that are offered."""
    return choices.choices(exercise.about_fault[0], exercise.scenario.ticket)


def causes(exercise: Exercise) -> tuple[str, ...]:
    """The causes that its form offers."""
    return choices.offered(*exercise.about_fault, exercise.scenario.ticket)


_right: dict[str, of.Right] = {}


def right(exercise: Exercise) -> of.Right:
    """What is right in the program as it is handed out."""
    key = repr((exercise, exercise.about_fault))
    if key not in _right:
        texts = list(accepted(exercise).values())
        _right[key] = of.right(*exercise.about_fault, handed_out(exercise), texts, offered(exercise))
    return _right[key]


def filled(exercise: Exercise) -> dict[str, Any]:
    """A form that earns everything, as the solution notebook fills it in; the line is where the healthy text differs."""
    wanted = right(exercise)
    changed = of.changed_lines(healthy_text(exercise), handed_out(exercise))
    return {
        "cause": wanted.causes[0],
        "place": None if exercise.trap else changed[0][0],
        "step": wanted.step and wanted.step[0],
        "evidence": [wanted.evidence[0]],
        "test": wanted.test.letter,
    }


def grade_diagnosis(name: str, record: dict[str, Any] | None) -> Result:
    """Judge a diagnosis as `lab.DiagnosisForm` keeps it: cause, place (line), step, evidence (in order), test (letter).

    Blaming a healthy program earns nothing, and so does acquitting an ill one; what is no cause at all is told the list.
    Raises UserError for an unknown exercise.
    """
    exercise, record = load(name), record if isinstance(record, dict) else {}
    most = exercise.points[1]
    given = str(record.get("cause") or "")
    if not given:
        return Result("not attempted", message="The diagnosis is empty.", max_points=most)
    try:
        of.known_cause(given)
    except UserError as error:
        return Result("not attempted", message=str(error), max_points=most)
    parts = of.judge(right(exercise), record, of.EXERCISE)
    if not parts[0].share:
        parts = parts[:1]
    checks = [Check(p.name, "passed" if p.share == 1 else "wrong", p.saw, p.expected, p.number) for p in parts]
    share = of.worth(parts, of.EXERCISE)
    status = "passed" if share == 1 else "wrong"
    message = "The cause is right; what is marked NO is not all there." if 0 < share < 1 else ""
    if not share:
        message = "Look further and hand in again; the rest is judged then."
    return Result(status, share, checks, message, points=round(share * most, 4), max_points=most)


def about(exercise: Exercise) -> tuple[object, ...]:
    """What a repair's grade depends on beside the exercise's own file: the two texts, and what its fault's file says."""
    return handed_out(exercise), healthy_text(exercise), right(exercise).causes, allowances(exercise.scenario)
