"""The submissions that prove a case: those that must pass and those that must fail, from the fault's file."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bugzoo.diagnostics.causes import words
from bugzoo.faults.model import Fault
from bugzoo.grading.answers import filled, true_causes
from bugzoo.grading.model import FOR_A_PERSON, Exercise, Result
from bugzoo.grading.repairs import Params, all_made, pretences, repairs
from bugzoo.grading.texts import same_program, tidy
from bugzoo.grading.trials.attacks import attacks
from bugzoo.grading.trials.wrong_fixes import PRETENCES
from bugzoo.scenario import Scenario

TOUCHED = "touched"
"""A repair that also takes a decoy away: it passes, with less than all points."""
MUST_PASS, MUST_FAIL = ("solution", "correct", TOUCHED), ("unsolved", "degenerate", "attack")
"""Kinds of submissions."""
HALF, AT_MOST = "half", "at most half"
"""Kinds of a *two* exercise: a repair of one fault earns half of the points. With a pretence for the other it earns no more."""
LEAKS, VIEWS, DECOY, FIVE = "leaks", "views", "decoy", "five"
"""Kinds of trials that are no submissions: the search for names, what views show, that a decoy is harmless, a recording."""
UNGRADED = ("a syntax error", "no model")
"""Attacks that leave nothing to grade."""


@dataclass(frozen=True)
class Trial:
    """One submission; `kind` gives the expected result."""

    exercise: str
    kind: str
    name: str
    source: str
    diagnosis: dict[str, Any] | None = None
    by_counter: bool = False
    """A right repair that a person has to look at (`Fault.by_counter`)."""


def of_texts(broken: str, healthy: str, fault: Fault, params: Params) -> Iterator[Trial]:
    """Yield the submissions for one fault in one program: its repairs, its pretences, generic pretences, attacks.

    For a trap the solution is the text as it is, and the failing ones are built from a pretence that breaks it.
    """
    right = {"solution": broken if fault.trap else healthy}
    yield Trial("", "solution", "solution", right["solution"])
    if not fault.trap:
        yield Trial("", "unsolved", "as handed out", broken)
    spared = {"the healthy text": healthy} if fault.trap else {}
    for name, text in (spared | repairs(broken, fault, params)).items():
        if not any(same_program(text, other) for other in right.values()):  # on some programs two repairs are the same
            right[name] = text
            yield Trial("", "correct", name, text, by_counter=name in fault.by_counter)
    specific = pretences(broken, fault, params)
    for name, text in (specific | generic(broken, fault, params)).items():
        yield Trial("", "degenerate", name, text)
    ill = next(iter(specific.values()), broken) if fault.trap else broken
    for name, text in attacks(ill).items():
        yield Trial("", "attack", name, text)


def generic(broken: str, fault: Fault, params: Params) -> dict[str, str]:
    """Return the generic pretences, except those that the fault's file names itself."""
    names = fault.repairs.keys() | fault.pretences.keys()
    return all_made(broken, {name: edits for name, edits in PRETENCES.items() if name not in names}, params)


def of_case(scenario: Scenario) -> Iterator[Trial]:
    """Yield the submissions for a program with one fault."""
    [(fault, params)] = scenario.specs
    yield from of_texts(tidy(scenario.source), tidy(scenario.healthy().source), fault, params)


def diagnoses(exercise: Exercise) -> tuple[int, list[str]]:
    """Return how many diagnoses of one fault were graded, and sentences on wrong grades."""
    problems, full, true = [], filled(exercise), true_causes(exercise)
    result = exercise.kind.grade_diagnosis(exercise, full)
    if result.share != 1:
        problems.append(f"the right diagnosis earns {result.share:.0%}: {[str(c) for c in result.checks]}")
    others = [cause for cause in words() if cause not in true]
    for cause in others:
        earned = exercise.kind.grade_diagnosis(exercise, full | {"cause": cause}).share
        if earned:
            problems.append(f"the diagnosis {cause!r} earns {earned:.0%}")
    return len(others) + 1, problems


def fewer(counts: dict[str, int], least: dict[str, int]) -> list[str]:
    """Return a sentence for each count that is below the least."""
    return [f"{counts[kind]} {kind}; at least {most} are needed" for kind, most in least.items() if counts[kind] < most]


def told(result: Result) -> dict[str, Any]:
    """Return what is kept of a grading: {"status", "share", "failed", "saw", "seconds"}."""
    failed = {check.name: check.saw for check in result.checks if not check.passed}
    return {
        "status": result.status,
        "share": result.share,
        "failed": list(failed),
        "saw": [f"{name}: {saw}" for name, saw in failed.items()] or [result.message],
        "seconds": round(result.seconds, 2),
    }


def reliable(trial: Trial, result: dict[str, Any]) -> bool:
    """Return whether the result is due to the submission, not to this machine."""
    return result.get("status") != "cannot be graded" or trial.name in UNGRADED


def verdict(trial: Trial, result: dict[str, Any]) -> list[str]:
    """Return a sentence if the result of a trial is unexpected, else nothing."""
    must_pass, passed, what = trial.kind in MUST_PASS, result["status"] == "passed", f"{trial.kind} {trial.name!r}"
    right = FOR_A_PERSON if trial.by_counter else "passed"
    why = "; ".join(result["saw"][:3])
    if not reliable(trial, result):
        return [f"{what} cannot be graded: {why}"]
    if must_pass and result["status"] != right:
        return [f"{what} must {'pass' if right == 'passed' else f'be {right}'} but is {result['status']}: {why}"]
    if trial.kind == TOUCHED and not 0 < result["share"] < 1:
        return [f"{what} must cost some of the points but earns {result['share']:.0%}"]
    if trial.kind in (HALF, AT_MOST):
        least = 0.5 if trial.kind == HALF else 0.0
        if passed or not least <= result["share"] <= 0.5:
            share = "half" if least else "at most half"
            return [f"{what} must earn {share} of the points but earns {result['share']:.0%}: {why}"]
    elif not must_pass and (passed or result["share"]):
        return [f"{what} must fail but earns {result['share']:.0%}"]
    return []
