"""Proof that an exercise's fault shows: in at least one view a number lies outside its usual range, in a trap in none.

Of a *break* exercise both: the healthy program shows none, and the text with the fault shows one.
"""

from typing import Any

from bugzoo import views
from bugzoo.fingerprint import code_of
from bugzoo.grading.answers import telling
from bugzoo.grading.exercises import load
from bugzoo.grading.looks import measured
from bugzoo.grading.model import Exercise
from bugzoo.grading.texts import broken_text, handed_out
from bugzoo.proving import code


def key_of(name: str) -> str:
    """Return the key of all that the result depends on: the text handed out, the views that count with their ranges, and
    their code."""
    exercise = load(name)
    looking = code_of("bugzoo.views:measure", "bugzoo.views:outside", *(f"bugzoo.views.{one}" for one in views.names()))
    texts = (handed_out(exercise), *((broken_text(exercise),) if exercise.breaks else ()))
    telling = _telling(exercise)
    counted = views.names() if exercise.trap or exercise.breaks else [name for names in telling for name in names]
    ranges = [(name, [(row.source, row.range) for row in views.rows(name)]) for name in counted]
    return code.keyed((*texts, exercise.trap, *telling, ranges), (looking, code.core()))


def _telling(exercise: Exercise) -> list[tuple[str, ...]]:
    """Return the views that show each of its faults."""
    return [telling(exercise, of) for of in range(len(exercise.faults))]


def shown(name: str) -> dict[str, Any]:
    """Return {"problems": sentences, "outside": "view: label" of each number outside its usual range} for one exercise."""
    exercise = load(name)
    if exercise.breaks:
        found = of_text(exercise, handed_out(exercise), True), of_text(exercise, broken_text(exercise), False)
        return {"problems": [text for one in found for text in one["problems"]], "outside": found[1]["outside"]}
    return of_text(exercise, handed_out(exercise), exercise.trap)


def of_text(exercise: Exercise, source: str, healthy: bool) -> dict[str, Any]:
    """Return the same for one text of the program; a `healthy` one may show no number outside its usual range."""
    names = [
        one
        for one in views.names()
        if healthy or not views.reruns(one) or any(one in told for told in _telling(exercise))
    ]
    readings = measured(names, source, exercise.scenario.ranks)
    found = {one: [row.label for row in views.outside(one, readings[one].numbers)] for one in names}
    outside = [f"{one}: {label}" for one, labels in found.items() for label in labels]
    if healthy:
        problems = [f"nothing is wrong, and {text!r} is outside its usual range" for text in outside]
    else:
        missed = [told for told in _telling(exercise) if not any(found.get(one) for one in told)]
        problems = [f"no number of {', '.join(told)} is outside its usual range" for told in missed]
    return {"problems": problems, "outside": outside}
