"""The diagnosis, graded apart from the repair: cause, place, step, what was looked at first, the discriminating test."""

import difflib
from typing import Any

from bugzoo.grading.exercises import load
from bugzoo.grading.grade import handed_out, healthy_text
from bugzoo.grading.model import Check, Exercise, Result

CAUSE, PLACE, STEP, EVIDENCE, TEST = 0.4, 0.2, 0.1, 0.15, 0.15
"""Shares of the points."""
NEAR = 3
"""Lines by which the place may be off."""


def places(exercise: Exercise) -> list[tuple[int, int]]:
    """Line ranges (from 1, inclusive) of the handed-out text that differ from the healthy one; a removal counts with
    its neighbours."""
    return changed_lines(healthy_text(exercise).splitlines(), handed_out(exercise).splitlines())


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
    checks = [_check("cause", given == right.cause, given, "another one")]
    if not checks[0].passed:
        message = "The program is healthy." if exercise.trap else ""
        return Result("wrong", 0.0, checks, message, max_points=most)
    share = CAUSE
    for check, weight in (
        (_place(exercise, record.get("place")), PLACE),
        (_step(exercise, record.get("step")), STEP),
        (_evidence(right.evidence, record.get("evidence")), EVIDENCE),
        (_test(right.test, record.get("test")), TEST),
    ):
        checks.append(check)
        half = check.name == "evidence" and check.number == 0.5
        share += weight if check.passed else weight / 2 if half else 0.0
    share = round(share, 4)
    status = "passed" if share == 1 else "wrong"
    return Result(status, share, checks, points=round(share * most, 4), max_points=most)


def _check(name: str, good: bool, saw: str, expected: str, number: float | None = None) -> Check:
    return Check(name, "passed" if good else "wrong", saw, expected, number)


def _place(exercise: Exercise, line: Any) -> Check:
    if exercise.trap:
        return _check(
            "place", line in (None, 0, ""), f"line {line}" if line else "no line", "no line: nothing is wrong"
        )
    good = isinstance(line, int) and any(a - NEAR <= line <= b + NEAR for a, b in places(exercise))
    return _check("place", good, f"line {line}" if line else "no line", "the line that has to change", line or None)


def _step(exercise: Exercise, step: Any) -> Check:
    onset = exercise.answers.step
    if onset is None:
        return _check("step", True, "no onset is asked for", "")
    good = isinstance(step, int) and onset[0] <= step <= onset[1]
    return _check("step", good, f"step {step}" if step else "no step", "the first step at which it shows", step or None)


def _evidence(telling: tuple[str, ...], looked: Any) -> Check:
    looked = [str(name) for name in looked] if isinstance(looked, list | tuple) else []
    first, later = bool(looked) and looked[0] in telling, any(name in telling for name in looked)
    saw = ", ".join(looked) or "nothing was looked at"
    return _check("evidence", first, saw, "an instrument that shows it, first", 1.0 if first else 0.5 if later else 0.0)


def _test(letter: str, given: Any) -> Check:
    text = str(given or "").strip().upper()[:1]
    return _check("test", text == letter, text or "none", "the test that tells it from its look-alikes")
