"""The answer to a wrong cause: a number of this run that speaks against it, and the view in which it stands."""

import math
import re
from collections.abc import Mapping
from typing import Any

from bugzoo import choices, faults, views
from bugzoo.choices import said
from bugzoo.diagnostics.causes import NOTHING, cause
from bugzoo.diagnostics.numbers import Number, digits
from bugzoo.faults.evidence import Claim, parse
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.grading import parse_answers
from bugzoo.grading.diagnosis import known_cause, seen_in
from bugzoo.grading.healthy import recorded
from bugzoo.grading.looks import measured
from bugzoo.grading.model import Exercise, Result
from bugzoo.grading.stages import stage
from bugzoo.grading.texts import healthy_text
from bugzoo.lab.healthy_twin import Curve
from bugzoo.views import views_of

WOULD = {">": "above", ">=": "at least", "<": "below", "<=": "at most", "==": "exactly"}
NOT_THIS = "Cause: no. A run looks for the number that speaks against it"
NOTHING_SPEAKS = "Nothing that this run shows speaks for it."
MENDED = "Here, once the other fault is repaired"
"""A look-alike's text is about a run with one fault."""


def answered(exercise: Exercise, record: Mapping[str, Any] | None, result: Result) -> Result:
    """Put the answer to a wrong cause in front of a result's message; the program runs once for it."""
    if result.status == "wrong" and not result.share and record:
        stage(NOT_THIS)
        looked = seen_in(parse_answers.names(record.get("evidence")))
        said = answer(exercise, known_cause(record.get("cause")), looked)
        result.message = f"{said} {result.message}".strip()
    return result


def answer(exercise: Exercise, word: str, looked: list[str], of: int = 0) -> str:
    """Return what speaks against a wrong cause, first in the views that the learner opened (`looked`).

    Where no number of a view does, the look-alike's test says what it would show there and what it shows here. So does
    the decoy's test for the cause that the decoy looks like. `of`: of two faults the one that is not found.
    """
    if word == NOTHING:
        return _something(exercise)
    fault = exercise.about_faults[of][0]
    odd = next(
        (like for trap, _ in exercise.scenario.odd for like in trap.look_alikes if cause(like.other).word == word), None
    )
    if odd:  # the decoy's own test: what it looks like, and what this run shows
        return _told(odd)
    for suspect in choices.standing_for(word, fault, exercise.scenario.ticket):
        if text := _number(exercise, word, suspect, looked):
            return text
        break
    look_alikes = [
        like for suspect in (fault, *(suspect for suspect, _ in exercise.about_faults)) for like in suspect.look_alikes
    ]
    like = next((like for like in look_alikes if cause(like.other).word == word), None)
    return _told(like, MENDED if len(exercise.faults) > 1 else "Here") if like else NOTHING_SPEAKS


def _told(like: LookAlike, here: str = "Here") -> str:
    """Return a look-alike's test, with what it would show there and what it shows here."""
    return f"{like.test} If it were that: {_sentence(like.there)} {here}: {_sentence(like.here)}"


def _number(exercise: Exercise, word: str, suspect: Fault, looked: list[str]) -> str:
    """Return the number that a fault with this cause would move, as it is in this run; "" if no row has it.

    A cause may be several things, such as a rate that is too high or too low. So no number is told that one of them
    explains, and where another one leaves that number alone, the sentence names the suspect.
    """
    kin = [fault for name, fault in faults.catalogue().items() if cause(name).word == word]
    claims = [parse(text) for text in suspect.evidence]
    places = {claim: place for claim in claims if (place := _row(claim)) and claim.op in WOULD}
    names = list(dict.fromkeys(view for view, _ in places.values() if not views.reruns(view)))
    if not names:
        return ""
    readings = measured(names, exercise.handed_out, exercise.scenario.ranks)
    texts: dict[bool, str] = {}
    for claim, (view, row) in places.items():
        value = row.value(readings[view].numbers) if view in readings else None
        if not isinstance(value, int | float):
            continue
        seen = {"numbers": _as_numbers(claim, value), "outcome": "", "metrics": {}}
        alike = [[other for other in map(parse, fault.evidence) if other.left == claim.left] for fault in kin]
        if not any(other.holds(seen) for others in alike for other in others):
            usual = f" (usual: {row.usual_text()})" if row.usual_text() else ""
            which = word if all(alike) else f"{word}, such as “{suspect.title}”,"
            would = f"With {which} it would be {WOULD[claim.op]} {claim.right}."
            texts.setdefault(view in looked, f"in the view `{view}`, {row.label} is {digits(value)}{usual}. {would}")
    if True in texts:
        return f"You saw it: {texts[True]}"
    return f"You did not open the view that speaks against it: {texts[False]}" if False in texts else ""


def _row(claim: Claim) -> tuple[str, Number] | None:
    for view in views_of([claim.left]):
        for row in views.rows(view):
            if row.source == claim.left:
                return view, row
    return None


def _as_numbers(claim: Claim, value: float) -> dict[str, dict[str, float]]:
    instrument, _, key = claim.left.partition(".")
    return {instrument: {key: float(value)}}


def _something(exercise: Exercise) -> str:
    """Return the answer to "nothing is wrong": the run's error, or how it ends beside a healthy one. No cause is named."""
    if stop := exercise.kind.stop(exercise):
        return f"Something is. {stop.sentence}"
    broken, healthy = (
        numbers(recorded(text, exercise.scenario.ranks)) for text in (exercise.handed_out, healthy_text(exercise))
    )
    name = max(healthy, key=lambda name: apart(broken.get(name, math.nan), healthy[name]))
    return f"Something is: its {name} is {digits(broken.get(name))}, and that of a healthy run {digits(healthy[name])}."


def numbers(curve: Curve) -> dict[str, float]:
    """Return what `program.numbers()` says of a run: the mean loss of its first and last tenth, and its metrics."""
    tenth = max(1, len(curve.losses) // 10)
    ends = {"first tenth": curve.losses[:tenth], "last tenth": curve.losses[-tenth:]}
    losses = {f"training loss in the {end}": sum(part) / max(1, len(part)) for end, part in ends.items()}
    return losses | {f"validation {name}": value for name, value in curve.metrics.items()}


def apart(value: float, healthy: float) -> float:
    """Return how far a number is from the healthy one, as a share of it; infinite if it is not finite."""
    return abs(value - healthy) / max(abs(healthy), 1e-9) if math.isfinite(value) else math.inf


def _sentence(text: str) -> str:
    plain = re.sub(r"\s+", " ", said(text)).strip()
    return plain if plain.endswith((".", "?", "!")) else f"{plain}."
