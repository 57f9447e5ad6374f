"""The submissions that prove a case: those that must pass and those that must fail, from the fault's file."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from bugzoo.diagnostics.causes import words
from bugzoo.faults.model import Fault
from bugzoo.grading.answers import accepted, right, true_causes
from bugzoo.grading.diagnosis import changed_lines
from bugzoo.grading.halves import half, halves
from bugzoo.grading.kinds.break_.lazy import LAZY_BREAKS
from bugzoo.grading.model import FOR_A_PERSON, Exercise, Result
from bugzoo.grading.repairs import Params, all_made, made, pretences, repairs
from bugzoo.grading.texts import handed_out, healthy_text, same_program, tidy
from bugzoo.grading.trials.attacks import attacks
from bugzoo.grading.trials.pretences import PRETENCES
from bugzoo.scenario import Scenario

MUST_PASS, MUST_FAIL = ("solution", "correct", "touched"), ("unsolved", "degenerate", "attack")
"""Kinds of submissions. "touched": a repair that also takes a decoy away passes, with less than all points."""
HALF, AT_MOST = "half", "at most half"
"""Kinds of a *two* exercise: a repair of one fault earns half of the points. With a pretence for the other it earns no more."""
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
    own = pretences(broken, fault, params)
    for name, text in (own | generic(broken, fault, params)).items():
        yield Trial("", "degenerate", name, text)
    ill = next(iter(own.values()), broken) if fault.trap else broken
    for name, text in attacks(ill).items():
        yield Trial("", "attack", name, text)


def generic(broken: str, fault: Fault, params: Params) -> dict[str, str]:
    """Return the generic pretences, except those that the fault's file names itself."""
    own = fault.repairs.keys() | fault.pretences.keys()
    return all_made(broken, {name: edits for name, edits in PRETENCES.items() if name not in own}, params)


def of_case(scenario: Scenario) -> Iterator[Trial]:
    """Yield the submissions for a program with one fault."""
    [(fault, params)] = scenario.specs
    yield from of_texts(tidy(scenario.source), tidy(scenario.healthy().source), fault, params)


def trials(exercise: Exercise) -> Iterator[Trial]:
    """Yield every submission for the proof of an exercise, with its diagnosis; none of a *five*."""
    if exercise.five:
        return
    if exercise.breaks:
        yield from of_edits(exercise)
        return
    broken, cause = handed_out(exercise), true_causes(exercise)[0]
    if exercise.trap:
        yield Trial(exercise.name, "unsolved", "as handed out", broken)
        yield Trial(exercise.name, "unsolved", "as handed out, blamed", broken, {"cause": _another(cause)})
    if exercise.second:
        yield from of_two(exercise)
        return
    for trial in of_texts(broken, healthy_text(exercise), *exercise.about_fault):
        diagnosis = None if trial.kind == "unsolved" else {"cause": cause}
        yield replace(trial, diagnosis=diagnosis, exercise=exercise.name)
    if exercise.decoy:
        yield from of_decoy(exercise, {"cause": cause})


def of_two(exercise: Exercise) -> Iterator[Trial]:
    """Yield the submissions for two faults: repairs of one and of both, and pretences, alone and beside a repair."""
    broken, healthy = handed_out(exercise), healthy_text(exercise)
    for name, text in accepted(exercise).items():
        yield Trial(exercise.name, "solution" if name == "solution" else "correct", name, text)
    yield Trial(exercise.name, "unsolved", "as handed out", broken)
    mended = [text for of in (0, 1) for text in halves(exercise, of).values()]
    for of, (fault, params) in enumerate(exercise.about_faults):
        for name, text in halves(exercise, of).items():
            yield Trial(exercise.name, HALF, f"{fault.id}: {name}", text)
        for name, edits in fault.pretences.items():
            for kind, base in (("degenerate", broken), (AT_MOST, half(exercise, 1 - of))):
                text = made(base, edits, params)
                if text is not None and not any(same_program(text, one) for one in (healthy, *mended)):
                    kind = AT_MOST if _repairs_other(exercise, of, text) else kind
                    alone = " alone" if base == broken else ""
                    yield Trial(exercise.name, kind, f"{fault.id}: {name}{alone}", text)
    own = {name for fault, _ in exercise.about_faults for name in (*fault.repairs, *fault.pretences)}
    for name, text in all_made(
        broken, {name: edits for name, edits in PRETENCES.items() if name not in own}, {}
    ).items():
        yield Trial(exercise.name, "degenerate", name, text)
    for name, text in attacks(broken).items():
        yield Trial(exercise.name, "attack", name, text)


def _repairs_other(exercise: Exercise, of: int, text: str) -> bool:
    """Return whether a pretence for one fault changes a line that a repair of the other one changes.

    To divide the learning rate is no repair of a summed loss, but it is one of a learning rate that is too high.
    """
    places = right(exercise, 1 - of).places
    changed = changed_lines(text, handed_out(exercise))
    return any(first <= end and start <= last for first, last in changed for start, end in places)


def of_decoy(exercise: Exercise, diagnosis: dict[str, Any]) -> Iterator[Trial]:
    """Yield what a learner may do to the decoy: take it away beside a repair, and take it away alone."""
    plain = replace(exercise, decoy="")
    yield Trial(exercise.name, "touched", "the odd thing taken away as well", healthy_text(plain), diagnosis)
    yield Trial(exercise.name, "degenerate", "only the odd thing taken away", handed_out(plain), diagnosis)


def of_edits(exercise: Exercise) -> Iterator[Trial]:
    """Yield the submissions for a *break* exercise: edits that count, lazy ones, and attacks on the healthy program."""
    healthy, asked = handed_out(exercise), exercise.breaks
    assert asked is not None
    yield Trial(exercise.name, "unsolved", "as handed out", healthy)
    for name, text in accepted(exercise).items():
        yield Trial(exercise.name, "solution" if name == "solution" else "correct", name, text)
    for name, text in all_made(healthy, {**asked.lazy, **LAZY_BREAKS}, {}).items():
        yield Trial(exercise.name, "degenerate", name, text)
    for name, text in attacks(healthy).items():
        yield Trial(exercise.name, "attack", name, text)


def _another(cause: str) -> str:
    return next(other for other in words() if other != cause)


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
    wanted, passed, what = trial.kind in MUST_PASS, result["status"] == "passed", f"{trial.kind} {trial.name!r}"
    right = FOR_A_PERSON if trial.by_counter else "passed"
    why = "; ".join(result["saw"][:3])
    if not reliable(trial, result):
        return [f"{what} cannot be graded: {why}"]
    if wanted and result["status"] != right:
        return [f"{what} must {'pass' if right == 'passed' else f'be {right}'} but is {result['status']}: {why}"]
    if trial.kind == "touched" and not 0 < result["share"] < 1:
        return [f"{what} must cost some of the points but earns {result['share']:.0%}"]
    if trial.kind in (HALF, AT_MOST):
        least = 0.5 if trial.kind == HALF else 0.0
        if passed or not least <= result["share"] <= 0.5:
            return [
                f"{what} must earn {'' if least else 'at most '}half of the points but earns {result['share']:.0%}: {why}"
            ]
    elif not wanted and (passed or result["share"]):
        return [f"{what} must fail but earns {result['share']:.0%}"]
    return []
