"""An exercise's right diagnosis, and the points of a submitted one."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bugzoo import choices, faults
from bugzoo.choices import Choices
from bugzoo.diagnostics import causes as table
from bugzoo.errors import UserError
from bugzoo.grading import diagnosis as judging
from bugzoo.grading.exercises import load
from bugzoo.grading.halves import half, halves
from bugzoo.grading.model import Check, Exercise, Result, state_of
from bugzoo.grading.onset import onset
from bugzoo.grading.texts import healthy_text
from bugzoo.grading.tolerances import tolerances
from bugzoo.scenario import misfit


def pairs(exercise: Exercise) -> dict[str, choices.Pair]:
    """Return the question about the test that follows each cause of its form; of two findings both forms have it."""
    questions = choices.pairs(*exercise.about_fault, exercise.scenario.ticket, causes(exercise))
    for of in range(len(exercise.faults)):
        questions |= {word: question for word in true_causes(exercise, of) if (question := _pair(exercise, of, word))}
    return questions


def true_causes(exercise: Exercise, of: int = 0) -> tuple[str, ...]:
    """Return every cause of the form that is right for a fault: the one in that place of `about_faults`."""
    fault, params = exercise.about_faults[of]
    return table.right(fault.id, params)


def named_all(exercise: Exercise, record: Mapping[str, Any] | None) -> bool:
    """Return whether a record names the cause of each fault, in any order; of one finding or of several."""
    findings = (record or {}).get("findings") or [record or {}]
    words = {str(finding.get("cause")) for finding in findings}
    return all(words & set(true_causes(exercise, of)) for of in range(len(exercise.faults)))


def telling(exercise: Exercise, of: int = 0) -> tuple[str, ...]:
    """Return the views that show what is wrong, the most informative first."""
    return judging.telling(exercise.about_faults[of][0])


def _pair(exercise: Exercise, of: int, word: str) -> choices.Pair | None:
    """Return the question about the test that follows a right cause; it never tells one true cause from another."""
    key = exercise.scenario.ticket + (f" {of + 1}" if of else "")
    beside = [word for other in range(len(exercise.faults)) if other != of for word in true_causes(exercise, other)]
    return choices.pair(*exercise.about_faults[of], key, word, (), tuple(beside))  # its look-alikes are in the menu


def offered(exercise: Exercise, of: int = 0) -> Choices:
    """Return the discriminating tests that are offered once the right cause of a fault is chosen."""
    question = _pair(exercise, of, true_causes(exercise, of)[0])
    return question.tests if question else Choices()


def causes(exercise: Exercise) -> tuple[str, ...]:
    """Return the causes that each of its forms offers: its program can have all of them."""
    key, also = exercise.scenario.ticket, exercise.kind.suspected(exercise)
    return choices.offered(*exercise.about_fault, key, also, lambda word: _possible(word, exercise.program))


def _possible(word: str, program: str) -> bool:
    """Return whether a fault with this cause fits the program."""
    suspects = (fault for name, fault in faults.catalogue().items() if table.cause(name).word == word)
    return any(not misfit(fault, program) for fault in suspects)


_right: dict[str, judging.Right] = {}


def right(exercise: Exercise, of: int = 0) -> judging.Right:
    """Return the right diagnosis of the program as handed out; of two faults of the one in that place.

    Where only a run shows the first step, it runs once.
    """
    fault, broken = exercise.about_faults[of], exercise.handed_out
    stop = exercise.kind.stop(exercise)
    step = (stop.step, stop.step) if stop else onset(*fault, broken, exercise.scenario.ranks)
    key = repr((exercise, exercise.about_fault, of, step))
    if key not in _right:
        texts = list(halves(exercise, of).values())
        answer = judging.right(*fault, broken, texts, offered(exercise, of), step)
        _right[key] = replace(answer, raised=stop.line) if stop else answer
    return _right[key]


def filled(exercise: Exercise, of: int = 0) -> dict[str, Any]:
    """Return the full-score form of the solution notebook; its line is where the healthy text differs."""
    diagnosis = right(exercise, of)
    changed = judging.changed_lines(half(exercise, of), exercise.handed_out)
    return {
        "cause": diagnosis.causes[0],
        "place": None if exercise.trap else changed[0][0],
        "step": diagnosis.step and diagnosis.step[0],
        "evidence": [diagnosis.evidence[0]],
        "test": diagnosis.test.letter,
    } | ({"raised": diagnosis.raised} if diagnosis.raised else {})


def grade_diagnosis(name: str, record: dict[str, Any] | None) -> Result:
    """Grade the diagnosis of an exercise. Of two findings `record` holds a list. Raises UserError for an unknown exercise."""
    exercise = load(name)
    return exercise.kind.grade_diagnosis(exercise, record if isinstance(record, dict) else {})


def grade_finding(exercise: Exercise, record: Mapping[str, Any]) -> Result:
    """Grade a diagnosis from `lab.DiagnosisForm`: cause, place (line), step, evidence (in order), test (letter).

    A fault named in a healthy program earns nothing, nor does "nothing" in a broken one. An unknown cause gets the list.
    """
    most = exercise.points[1]
    cause = str(record.get("cause") or "")
    if not cause:
        return Result("not attempted", message="The diagnosis is empty.", max_points=most)
    try:
        judging.known_cause(cause)
    except UserError as error:
        return Result("not attempted", message=str(error), max_points=most)
    named = judging.known_cause(cause) in true_causes(exercise)
    known = right(exercise) if named else judging.Right(true_causes(exercise))  # a wrong cause needs no run
    weights = exercise.kind.weights
    parts = judging.judge(known, record, weights)[: None if named else 1]
    checks = [
        Check(p.name, state_of(p.share == 1), said(p), f"Right is {p.expected}." if p.expected else "", p.number)
        for p in parts
    ]
    share = judging.worth(parts, weights)
    status = "passed" if share == 1 else "wrong"
    message = "The cause is right. Parts marked NO are wrong or incomplete." if 0 < share < 1 else ""
    if not share:
        message = "Look further."
    if isinstance(sure := record.get("sure"), int):
        message = f"{message} You were {sure} % sure of this cause.".strip()
    return Result(status, share, checks, message, points=round(share * most, 4), max_points=most)


def said(part: judging.Part) -> str:
    """Return a part of a diagnosis as a sentence."""
    answer, _, also = part.saw.partition("; also right: ")
    if part.name == "cause" and not part.share:
        return f"Not “{answer}”."
    if part.name == "cause":
        return f"You named “{answer}”." + (f" Also right: {also}." if also else "")
    if part.name == "evidence" and answer != judging.NO_VIEW:
        return f"You opened {answer}."
    if answer.startswith(("line ", "step ", "no line", "no step")):
        return f"You named {answer}."
    if part.name == "test" and (len(answer) == 1 or answer == "no test"):
        return f"You chose {answer if answer == 'no test' else f'test {answer}'}."
    return f"{answer[:1].upper()}{answer[1:]}."


def about(exercise: Exercise) -> tuple[object, ...]:
    """Return what a repair's grade depends on besides the exercise's file: the two texts and the fault's file."""
    words = [true_causes(exercise, of) for of in range(len(exercise.faults))]
    causes = tuple(words) if len(words) > 1 else words[0]
    return exercise.handed_out, healthy_text(exercise), causes, tolerances(exercise.scenario)
