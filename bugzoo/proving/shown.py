"""Proof that an exercise's fault shows: in at least one view a number lies outside its usual range, in a healthy text in none.

Of a *crash* it is shown on every seed, and that each run ends with the same error on the same line.
"""

from typing import Any

from bugzoo import views
from bugzoo.fingerprint import code_of
from bugzoo.grading.answers import telling
from bugzoo.grading.looks import measured
from bugzoo.grading.model import Exercise
from bugzoo.proving import code


def key_of(exercise: Exercise) -> str:
    """Return the key of all that the result depends on: the texts looked at, the views that count with their ranges, and
    their code."""
    looking = code_of(
        "bugzoo.views:measure", "bugzoo.views:outside", *(f"bugzoo.views.{view}" for view in views.names())
    )
    texts, healthy = zip(*exercise.kind.sights(exercise), strict=True)
    telling = _telling(exercise)
    counted = views.names() if any(healthy) else [name for names in telling for name in names]
    ranges = [(name, [(row.source, row.range) for row in views.rows(name)]) for name in counted]
    return code.keyed((*texts, exercise.trap, *telling, ranges), (looking, code.core()))


def _telling(exercise: Exercise) -> list[tuple[str, ...]]:
    """Return the views that show each of its faults."""
    return [telling(exercise, of) for of in range(len(exercise.faults))]


def prove(exercise: Exercise) -> dict[str, Any]:
    """Return {"problems": sentences, "outside": "view: label" of each number outside its usual range} for one exercise."""
    sights = [of_text(exercise, text, healthy) for text, healthy in exercise.kind.sights(exercise)]
    problems = [text for sight in sights for text in sight["problems"]] + exercise.kind.ended(exercise)
    return {"problems": problems, "outside": sights[-1]["outside"]}


def of_text(exercise: Exercise, source: str, healthy: bool) -> dict[str, Any]:
    """Return the same for one text of the program; a `healthy` one may show no number outside its usual range."""
    groups = _telling(exercise)
    named = {view for group in groups for view in group}
    names = [view for view in views.names() if healthy or not views.reruns(view) or view in named]
    readings = measured(names, source, exercise.scenario.ranks)
    outliers = {view: [row.label for row in views.outside(view, readings[view].numbers)] for view in names}
    outside = [f"{view}: {label}" for view, labels in outliers.items() for label in labels]
    if healthy:
        problems = [f"nothing is wrong, and {text!r} is outside its usual range" for text in outside]
    else:
        missed = [group for group in groups if not any(outliers.get(view) for view in group)]
        problems = [f"no number of {', '.join(group)} is outside its usual range" for group in missed]
    return {"problems": problems, "outside": outside}
