"""The diagnosis of a *two* exercise: two findings in any order, each graded by the fault that it fits better."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any

from bugzoo.diagnostics import causes as table
from bugzoo.errors import UserError
from bugzoo.grading import diagnosis as judging
from bugzoo.grading import parse_answers
from bugzoo.grading.against import answer
from bugzoo.grading.answers import right, said
from bugzoo.grading.diagnosis import seen_in
from bugzoo.grading.model import Check, Exercise, Result, state_of

KEY = "findings"
"""The entry of a record that holds one record for each form."""
LEFT_OPEN = "The form was left open."
NAMED_TWICE = "The other finding names this cause too. It counts once."


def listed(record: Mapping[str, Any], count: int = 2) -> list[dict[str, Any]]:
    """Return one record for each form; an open form is empty. A record without a list is the first form's."""
    findings = record.get(KEY)
    records = [
        finding if isinstance(finding, dict) else {}
        for finding in (findings if isinstance(findings, list) else [record])
    ]
    return (records + [{} for _ in range(count)])[:count]


def cause(finding: Mapping[str, Any]) -> str:
    """Return the cause that a finding names, as written; "" if it names none."""
    return str(finding.get("cause") or "")


def matched(exercise: Exercise, given: Sequence[Mapping[str, Any]]) -> tuple[int, ...]:
    """Return the fault of each finding, its place in `about_faults`: in the order that earns most."""
    orders = permutations(range(len(exercise.faults)))
    return max(
        orders,
        key=lambda order: sum(_worth(_judged(exercise, of, finding)) for of, finding in zip(order, given, strict=True)),
    )


def found(exercise: Exercise, of: int, finding: Mapping[str, Any]) -> bool:
    """Return whether a finding names the cause of this fault."""
    return bool(_judged(exercise, of, finding)[0].share)


def grade(exercise: Exercise, record: Mapping[str, Any]) -> Result:
    """Grade the findings of a record; each is worth the same. A wrong cause earns nothing for its finding."""
    findings, most = listed(record), exercise.points[1]
    if not any(map(cause, findings)):
        return Result("not attempted", message="The diagnosis is empty.", max_points=most)
    for number, one in enumerate(findings, 1):
        try:
            judging.known_cause(cause(one) or table.OTHER)
        except UserError as error:
            return Result("not attempted", message=f"Finding {number}: {error}", max_points=most)
    order = matched(exercise, findings)
    parts = [_judged(exercise, of, one) for of, one in zip(order, findings, strict=True)]
    checks = [check for number in range(len(findings)) for check in _checks(exercise, number, findings, parts[number])]
    share = round(sum(map(_worth, parts)) / len(findings), 4)
    message = " ".join(filter(None, [_told([bool(one[0].share) for one in parts], share), _sure(findings)]))
    status = "passed" if share == 1 else "wrong"
    return Result(status, share, checks, message, points=round(share * most, 4), max_points=most)


def _judged(exercise: Exercise, of: int, finding: Mapping[str, Any]) -> list[judging.Part]:
    return judging.judge(right(exercise, of), finding, judging.EXERCISE)


def _worth(parts: Sequence[judging.Part]) -> float:
    """Return what a finding earns, 0 to 1; without the right cause nothing."""
    return judging.worth(parts, judging.EXERCISE) if parts[0].share else 0.0


def _checks(
    exercise: Exercise, number: int, given: Sequence[Mapping[str, Any]], parts: Sequence[judging.Part]
) -> list[Check]:
    """Return a check for each part of a finding; where the cause is wrong only the cause's."""
    name = f"Finding {number + 1}"
    if not cause(given[number]):
        return [Check(name, "wrong", LEFT_OPEN)]
    checks = []
    is_cause = any(found(exercise, of, given[number]) for of in range(len(given)))
    for part in parts if parts[0].share else parts[:1]:
        saw, expected = said(part), part.expected
        saw += f" {NAMED_TWICE}" if part.name == "cause" and is_cause and not part.share else ""
        title = f"{name}, {PARTS[part.name]}"
        checks.append(
            Check(title, state_of(part.share == 1), saw, f"Right is {expected}." if expected else "", part.number)
        )
    return checks


PARTS = {"cause": "cause", "place": "line", "step": "first step", "evidence": "views", "test": "test"}
"""Part of a diagnosis -> its name in a check's title."""


def _told(good: Sequence[bool], share: float) -> str:
    """Return the message: how many causes are right, but not which ones are."""
    if share == 1:
        return ""
    if all(good):
        return "Both causes are right. Parts marked NO are wrong or incomplete."
    return "One cause is right. Look further for the other one." if any(good) else "Look further."


def _sure(given: Sequence[Mapping[str, Any]]) -> str:
    levels = [(number, finding.get("sure")) for number, finding in enumerate(given, 1)]
    sure = [f"{percent} % sure of finding {number}" for number, percent in levels if isinstance(percent, int)]
    return f"You were {' and '.join(sure)}." if sure else ""


def answers(exercise: Exercise, record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the answer to each finding with a wrong cause, unless the other finding has the same cause rightly."""
    findings = listed(record)
    for place, (of, finding) in enumerate(zip(matched(exercise, findings), findings, strict=True), 1):
        is_cause = any(found(exercise, fault, finding) for fault in range(len(findings)))
        if cause(finding) and not is_cause:
            looked = seen_in(parse_answers.names(finding.get("evidence")))
            yield f"Finding {place}: {answer(exercise, judging.known_cause(cause(finding)), looked, of)}"
