"""Grading a diagnosis of several findings against several faults, each finding as a single diagnosis would be."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from bugzoo.diagnostics.causes import OTHER
from bugzoo.grading import parse_answers
from bugzoo.grading.diagnosis import ASSIGNMENT, Part, judge, near, worth
from bugzoo.grading.model import Check, Result
from bugzoo.instructor.key import Answer


def grade(answers: Sequence[Answer], records: Sequence[Any], most: float) -> Result:
    """Grade the forms' records: each matches at most one fault, in the assignment that earns most.

    The checks are called "finding 1", "finding 2": the printed text names no fault that the student missed.
    """
    attempts = [record for record in records if isinstance(record, dict) and str(record.get("cause") or "").strip()]
    if not attempts:
        return Result("not attempted", message="The diagnosis is empty.", max_points=most)
    matched = _match(answers, attempts)
    share, checks = 0.0, []
    for number, record in enumerate(attempts):
        answer = next((answers[i] for i, j in matched if j == number), None)
        earned = _worth(answer, record) if answer else 0.0
        sentence = _said(_judged(answer, record)) if answer else "it matches no fault in this program"
        share += earned - (ASSIGNMENT.blamed if answer is None else 0.0)
        status = "passed" if earned == 1.0 else "wrong"
        expected = "cause, line and a view that shows it"
        checks.append(Check(f"finding {number + 1}", status, sentence, expected, round(earned, 2)))
    missing = len(answers) - len(matched)
    if missing:
        checks.append(Check("all of them", "wrong", f"{len(matched)} faults found, some are missing", "all faults"))
    share = round(max(0.0, share / len(answers)), 4)
    status = "passed" if share == 1.0 and not missing and len(attempts) == len(answers) else "wrong"
    return Result(status, share, checks, points=round(share * most, 4), max_points=most)


def _match(answers: Sequence[Answer], given: Sequence[dict[str, Any]]) -> list[tuple[int, int]]:
    """Return the (answer, record) pairs that earn most together; in each pair the record matches the fault."""
    earned = np.zeros((len(answers), len(given)))
    for (i, j), _ in np.ndenumerate(earned):
        earned[i, j] = _worth(answers[i], given[j])
    pairs = zip(*linear_sum_assignment(earned, maximize=True), strict=True)
    return [(int(i), int(j)) for i, j in pairs if earned[i, j] > 0]


def _judged(answer: Answer, record: dict[str, Any]) -> list[Part]:
    return judge(answer.right, record, ASSIGNMENT)


def _worth(answer: Answer, record: dict[str, Any]) -> float:
    """Return the share of points for this finding, 0 to 1; 0 when the cause is wrong."""
    parts = _judged(answer, record)
    if answer.cause in ("", OTHER):  # the form has no entry for this cause: the line decides
        hit = near(answer.right, parse_answers.number(record.get("place")))
        return worth(parts[1:], ASSIGNMENT) + ASSIGNMENT.cause if hit else 0.0
    return worth(parts, ASSIGNMENT) if parts[0].share else 0.0


def _said(parts: list[Part]) -> str:
    """Describe a finding whose cause is right."""
    place, evidence = (next(part for part in parts if part.name == name) for name in ("place", "evidence"))
    line = "right" if place.share == 1 else "not the line to change"
    view = "a view" if evidence.share == 1 else "no view"
    return f"the cause is right; {place.saw} is {line}; {view} that shows it was looked at"
