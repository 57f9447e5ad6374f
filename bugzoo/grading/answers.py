"""The diagnosis, graded apart from the repair: cause, place, step, what was looked at first, the discriminating test."""

import difflib
from typing import Any

from bugzoo.diagnostics.causes import says
from bugzoo.grading import said
from bugzoo.grading.exercises import load
from bugzoo.grading.grade import handed_out, healthy_text, scenario_of
from bugzoo.grading.model import Answers, Check, Exercise, Result
from bugzoo.syntax import source_lines

CAUSE, PLACE, STEP, EVIDENCE, TEST = 0.4, 0.2, 0.1, 0.15, 0.15
"""Shares of the points."""
NEAR = 3
"""Lines by which the place may be off."""


def places(exercise: Exercise) -> list[tuple[int, int]]:
    """Line ranges (from 1, inclusive) of the handed-out text that differ from the healthy one; a removal counts with
    its neighbours."""
    return changed_lines(source_lines(healthy_text(exercise)), source_lines(handed_out(exercise)))


def changed_lines(before: list[str], after: list[str]) -> list[tuple[int, int]]:
    """Where `after` differs from `before`."""
    found = []
    for kind, _, _, start, end in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            found.append((start + 1, end) if end > start else (start, start + 1))
    return found


def grade_diagnosis(name: str, record: dict[str, Any] | None) -> Result:
    """Judge a diagnosis as `lab.DiagnosisForm` keeps it: cause, place (line), step, evidence (in order), test (letter).

    Blaming a healthy program earns nothing, and so does acquitting an ill one. Raises UserError for an unknown exercise.
    """
    exercise, record = load(name), record if isinstance(record, dict) else {}
    most = exercise.points[1]
    given = str(record.get("cause") or "")
    if not given:
        return Result("not attempted", message="The diagnosis is empty.", max_points=most)
    right = exercise.answers
    [(fault, params)] = scenario_of(exercise).specs
    checks = [_check("cause", says(given, fault.id, params), given, "a cause that the run shows, or none")]
    if not checks[0].passed:
        return Result("wrong", 0.0, checks, max_points=most)
    share = CAUSE
    for check, weight in (
        (_place(exercise, record.get("place")), PLACE),
        (_step(exercise, record.get("step")), STEP),
        (_evidence(right.evidence, record.get("evidence")), EVIDENCE),
        (_test(right, record.get("test")), TEST),
    ):
        checks.append(check)
        half = check.name == "evidence" and check.number == 0.5
        share += weight if check.passed else weight / 2 if half else 0.0
    share = round(share, 4)
    status, message = (
        ("passed", "") if share == 1 else ("wrong", "The cause is right; what is marked NO is not all there.")
    )
    return Result(status, share, checks, message, points=round(share * most, 4), max_points=most)


def _check(name: str, good: bool, saw: str, expected: str, number: float | None = None) -> Check:
    return Check(name, "passed" if good else "wrong", saw, expected, number)


def _place(exercise: Exercise, given: Any) -> Check:
    line = said.number(given)
    saw = f"line {line}" if line else f"{given!r} is no line" if given else "no line"
    if exercise.trap:
        return _check("place", not line, saw, "no line: nothing is wrong")
    good = line is not None and any(a - NEAR <= line <= b + NEAR for a, b in places(exercise))
    return _check("place", good, saw, f"the line that has to change, give or take {NEAR}", line)


def _step(exercise: Exercise, given: Any) -> Check:
    onset, step = exercise.answers.step, said.number(given)
    if onset is None:
        return _check("step", True, "no onset is asked for", "")
    saw = f"step {step}" if step else f"{given!r} is no step" if given else "no step"
    return _check(
        "step", step is not None and onset[0] <= step <= onset[1], saw, "the first step at which it shows", step
    )


def _evidence(telling: tuple[str, ...], given: Any) -> Check:
    looked = said.names(given)
    first, later = bool(looked) and looked[0] in telling, any(name in telling for name in looked)
    saw = ", ".join(looked) or "nothing was looked at"
    return _check("evidence", first, saw, "an instrument that shows it, first", 1.0 if first else 0.5 if later else 0.0)


def _test(right: Answers, given: Any) -> Check:
    letter = said.letter(given, right.tests)
    saw = letter or (f"{str(given)[:40]!r} is none of the letters" if given else "none")
    return _check("test", letter == right.test, saw, "the test that tells it from its look-alikes")
