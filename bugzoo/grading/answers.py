"""An exercise's right diagnosis, and the points of a submitted one."""

from typing import Any

from bugzoo import choices
from bugzoo.choices import Choices
from bugzoo.diagnostics import causes as table
from bugzoo.errors import UserError
from bugzoo.grading import diagnosis as of
from bugzoo.grading.exercises import load
from bugzoo.grading.grade import broken_text, handed_out, healthy_text
from bugzoo.grading.model import Check, Exercise, Result, state_of
from bugzoo.grading.onset import onset
from bugzoo.grading.repairs import all_made, repairs
from bugzoo.grading.tolerances import tolerances

NO_DIAGNOSIS = "This exercise asks for an edit and has no diagnosis. Hand in your edit with cell.edit(...)."


def accepted(exercise: Exercise) -> dict[str, str]:
    """Return name -> text of every submission that passes; the solution comes first: the healthy text.

    Of a *break* exercise it is the text with the fault, and the others are the edits that its declaration counts.
    """
    broken = handed_out(exercise)
    if exercise.breaks:
        return {"solution": broken_text(exercise)} | all_made(broken, exercise.breaks.counts, {})
    solution = broken if exercise.trap else healthy_text(exercise)
    return {"solution": solution} | repairs(broken, *exercise.about_fault)


def pairs(exercise: Exercise) -> dict[str, choices.Pair]:
    """Return the question about the test that follows each cause of its form."""
    return choices.pairs(*exercise.about_fault, exercise.scenario.ticket, suspected(exercise))


def offered(exercise: Exercise) -> Choices:
    """Return the discriminating tests that are offered once the right cause is chosen."""
    found = choices.pair(*exercise.about_fault, exercise.scenario.ticket, true_causes(exercise)[0])
    return found.tests if found else Choices()


def causes(exercise: Exercise) -> tuple[str, ...]:
    """Return the causes that its form offers."""
    return choices.offered(*exercise.about_fault, exercise.scenario.ticket, suspected(exercise))


def suspected(exercise: Exercise) -> tuple[str, ...]:
    """Return the cause that its decoy looks like, as a word of the form; nothing without a decoy."""
    words = [table.cause(like.other).word for trap, _ in exercise.scenario.odd for like in trap.look_alikes]
    return tuple(word for word in words if word not in (table.OTHER, table.NOTHING))[:1]


def true_causes(exercise: Exercise) -> tuple[str, ...]:
    """Return every cause of the form that is right."""
    fault, params = exercise.about_fault
    return table.right(fault.id, params)


def telling(exercise: Exercise) -> tuple[str, ...]:
    """Return the views that show what is wrong, the most informative first."""
    return of.telling(exercise.about_fault[0])


_right: dict[str, of.Right] = {}


def right(exercise: Exercise) -> of.Right:
    """Return the right diagnosis of the program as handed out. Where only a run shows the first step, it runs once."""
    key = repr((exercise, exercise.about_fault))
    if key not in _right:
        texts, broken = list(accepted(exercise).values()), handed_out(exercise)
        step = onset(*exercise.about_fault, broken, exercise.scenario.ranks)
        _right[key] = of.right(*exercise.about_fault, broken, texts, offered(exercise), step)
    return _right[key]


def filled(exercise: Exercise) -> dict[str, Any]:
    """Return the full-score form of the solution notebook; its line is where the healthy text differs."""
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
    """Grade a diagnosis from `lab.DiagnosisForm`: cause, place (line), step, evidence (in order), test (letter).

    A fault named in a healthy program earns nothing, nor does "nothing" in a broken one. An unknown cause gets the list.
    Raises UserError for an unknown exercise.
    """
    exercise, record = load(name), record if isinstance(record, dict) else {}
    most = exercise.points[1]
    if exercise.breaks:
        return Result("not attempted", message=NO_DIAGNOSIS, max_points=most)
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
    checks = [Check(p.name, state_of(p.share == 1), said(p), f"Right is {p.expected}.", p.number) for p in parts]
    share = of.worth(parts, of.EXERCISE)
    status = "passed" if share == 1 else "wrong"
    message = "The cause is right. Parts marked NO are wrong or incomplete." if 0 < share < 1 else ""
    if not share:
        message = "Look further."
    if isinstance(sure := record.get("sure"), int):
        message = f"{message} You were {sure} % sure of this cause.".strip()
    return Result(status, share, checks, message, points=round(share * most, 4), max_points=most)


def said(part: of.Part) -> str:
    """Return a part of a diagnosis as a sentence."""
    given, _, also = part.saw.partition("; as right: ")
    if part.name == "cause":
        return f"You named “{given}”." + (f" As right: {also}." if also else "")
    if part.name == "evidence" and given != of.NO_VIEW:
        return f"You opened {given}."
    if given.startswith(("line ", "step ", "no line", "no step")):
        return f"You named {given}."
    if part.name == "test" and (len(given) == 1 or given == "no test"):
        return f"You chose {given if given == 'no test' else f'test {given}'}."
    return f"{given[:1].upper()}{given[1:]}."


def about(exercise: Exercise) -> tuple[object, ...]:
    """Return what a repair's grade depends on besides the exercise's file: the two texts and the fault's file."""
    return handed_out(exercise), healthy_text(exercise), true_causes(exercise), tolerances(exercise.scenario)
