"""A diagnosis of several findings, graded apart from the repair."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from bugzoo.diagnostics.causes import OTHER, named
from bugzoo.errors import UserError
from bugzoo.grading.answers import NEAR
from bugzoo.grading.model import Check, Result
from bugzoo.instructor.key import Answer

CAUSE, PLACE, EVIDENCE = 0.5, 0.3, 0.2
"""Shares of one finding."""
BLAMED = 0.5
"""What a finding that fits nothing costs, as a share of a right one."""


def grade(answers: Sequence[Answer], records: Sequence[Any], most: float) -> Result:
    """Judge the records of the forms: each fits at most one fault, and they are laid on the faults as well as they go.

    The checks say "finding 1", "finding 2": what is printed for a learner names nothing that was not found.
    """
    given = [record for record in records if isinstance(record, dict) and str(record.get("cause") or "").strip()]
    if not given:
        return Result("not attempted", message="The diagnosis is empty.", max_points=most)
    matched = _match(answers, given)
    share, checks = 0.0, []
    for number, record in enumerate(given):
        answer = next((answers[i] for i, j in matched if j == number), None)
        worth, said = _finding(answer, record) if answer else (0.0, "nothing in this program fits it")
        share += worth - (BLAMED if answer is None else 0.0)
        status = "passed" if worth == 1.0 else "wrong"
        checks.append(Check(f"finding {number + 1}", status, said, "cause, line and first instrument", round(worth, 2)))
    missing = len(answers) - len(matched)
    if missing:
        checks.append(Check("all of them", "wrong", f"{len(matched)} of what is wrong was found", "everything"))
    share = round(max(0.0, share / len(answers)), 4)
    status = "passed" if share == 1.0 and not missing and len(given) == len(answers) else "wrong"
    return Result(status, share, checks, points=round(share * most, 4), max_points=most)


def _match(answers: Sequence[Answer], given: Sequence[dict[str, Any]]) -> list[tuple[int, int]]:
    """(answer, record) pairs that earn most together; only pairs in which the record hits the fault."""
    worth = np.zeros((len(answers), len(given)))
    for (i, j), _ in np.ndenumerate(worth):
        worth[i, j] = _finding(answers[i], given[j])[0] if _hits(answers[i], given[j]) else 0.0
    pairs = zip(*linear_sum_assignment(worth, maximize=True), strict=True)
    return [(int(i), int(j)) for i, j in pairs if worth[i, j] > 0]


def _hits(answer: Answer, record: dict[str, Any]) -> bool:
    if answer.cause in ("", OTHER):  # the form has no word for it: the line tells
        return _near(answer, record)
    try:
        said = named(record.get("cause"))
    except UserError:  # a word that the form does not have
        return False
    return said in (answer.causes or [answer.cause])


def _near(answer: Answer, record: dict[str, Any]) -> bool:
    line = record.get("place")
    return isinstance(line, int) and any(first - NEAR <= line <= last + NEAR for first, last in answer.places)


def _finding(answer: Answer, record: dict[str, Any]) -> tuple[float, str]:
    """Share of this finding, 0 to 1, and what was seen of it."""
    near = _near(answer, record)
    looked = record.get("evidence")
    looked = [str(name) for name in looked] if isinstance(looked, list | tuple) else []
    first, later = bool(looked) and looked[0] in answer.evidence, any(name in answer.evidence for name in looked)
    worth = CAUSE + PLACE * near + EVIDENCE * (1.0 if first else 0.5 if later else 0.0)
    line = record.get("place")
    place = "no line" if line in (None, "") else f"line {line}"
    said = f"the cause is right; {place} is {'right' if near else 'not where it has to change'}; "
    said += "an instrument that shows it came first" if first else "no instrument that shows it came first"
    return round(worth, 4), said
