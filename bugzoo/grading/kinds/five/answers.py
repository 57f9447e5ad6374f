"""A *five*: what its runs are, in which order they are shown, what is right, and the points of an answer.

The truth comes from the declaration and from what the views measured in the recorded runs, never from an answer. Three
parts are graded: which run is broken, of what, and which reading tells. A wrong run earns nothing, so guessing does not pay.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from bugzoo import views
from bugzoo.diagnostics import causes as table
from bugzoo.draws import draw
from bugzoo.errors import UserError
from bugzoo.grading import another, parse_answers
from bugzoo.grading.diagnosis import known_cause
from bugzoo.grading.kinds.five import Five
from bugzoo.grading.kinds.five.recordings import Recorded, recorded_views, recording
from bugzoo.grading.model import Check, Exercise, Result, state_of
from bugzoo.scenario import Scenario

RUNS = 5
NONE = 0
"""The answer "none is broken", beside the runs 1 to 5."""
WORTH = {"run": 0.4, "cause": 0.2, "reading": 0.4}
"""Share of the points for each part."""
FREE = 5
"""Readings that cost nothing: one view of each run."""
PRICE, MOST = 0.02, 0.3
"""Share of the points that each further reading costs, and the most that all of them cost together."""


def five(exercise: Exercise) -> Five:
    """Return its declaration of the runs. Raises UserError for an exercise of another kind."""
    if not isinstance(exercise.kind, Five):
        raise UserError(f"Exercise {exercise.name} has a program, and no recorded runs.")
    return exercise.kind


def cases(exercise: Exercise) -> list[Exercise]:
    """Return an exercise and the cases that its tickets draw: each has a recording."""
    return [exercise, *(another.case(exercise, number) for number in range(1, len(exercise.tickets) + 1))]


def runs(exercise: Exercise) -> list[Scenario]:
    """Return the scenarios of the five runs, in the order in which they are shown."""
    faulty, plain = exercise.scenario, exercise.scenario.healthy()
    others = [
        replace(
            plain,
            faults=(spec.trap,) if spec.trap else (),
            settings={**plain.settings, **spec.settings},
            seed=plain.seed + spec.seed,
        )
        for spec in five(exercise).healthy
    ]
    scenarios = [faulty, *others]
    return [scenarios[place] for place in order(exercise.name)]


def order(name: str) -> list[int]:
    """Return for each position which run of the declaration is shown there; 0 is the run of the exercise's fault."""
    draws = draw("bugzoo", name, "order of the five")
    return sorted(range(RUNS), key=lambda place: draws.share(str(place)))


def broken(exercise: Exercise) -> int:
    """Return the position of the broken run, from 1; NONE if all are healthy."""
    return NONE if exercise.trap else order(exercise.name).index(0) + 1


@dataclass(frozen=True)
class Truth:
    """The right answer: position, causes that count, and view -> labels of the numbers that tell."""

    run: int
    causes: tuple[str, ...]
    telling: Mapping[str, tuple[str, ...]]


def truth(exercise: Exercise) -> Truth:
    """Return the right answer. Where none is broken, no reading tells. Raises UserError without a recording."""
    run, (fault, params) = broken(exercise), exercise.about_fault
    if run == NONE:
        return Truth(run, (table.NOTHING,), {})
    return Truth(run, table.right(fault.id, params), _told(exercise.name, run))


@cache
def _told(name: str, run: int) -> dict[str, tuple[str, ...]]:
    return telling(recording(name), run)


def forget() -> None:
    """Read recordings anew: their files have changed."""
    recording.cache_clear()
    _told.cache_clear()


def telling(recorded: tuple[Recorded, ...], run: int) -> dict[str, tuple[str, ...]]:
    """Return view -> labels of its numbers that lie outside their usual range in one run and in no other."""
    by_view = {}
    for view in recorded_views():
        others = {
            row.source for place, other_run in enumerate(recorded, 1) if place != run for row in other_run.outside(view)
        }
        if labels := [row.label for row in recorded[run - 1].outside(view) if row.source not in others]:
            by_view[view] = tuple(labels)
    return by_view


def filled(exercise: Exercise) -> dict[str, Any]:
    """Return an answer that earns all points; a view of each run is opened for it, which costs nothing."""
    right = truth(exercise)
    reading = next(iter(right.telling), recorded_views()[-1])
    return {"run": right.run, "cause": right.causes[0] if right.run else "", "reading": reading}


def opened(given: Mapping[str, Any]) -> set[tuple[str, int]]:
    """Return the readings that an answer rests on: (view, run) of each that was opened, and of the one that it names.

    A learner's own notebook counts the looks, so the price is as honest as its owner. Naming a reading costs a look.
    """
    looks = {(str(view), int(run)) for view, run in given.get("opened") or ()}
    view, run = _view(given.get("reading")), named_run(given.get("run"))
    return looks | ({(view, run)} if view and run else set())


def price(count: int) -> float:
    """Return the share of the points that so many opened readings cost."""
    return round(min(MOST, PRICE * max(0, count - FREE)), 4)


def grade(exercise: Exercise, given: Mapping[str, Any] | None) -> Result:
    """Grade an answer: {"run": position or 0, "cause", "reading": a view, "opened": [[view, run], ...]}."""
    given, most = given or {}, exercise.points[1]
    run = named_run(given.get("run"))
    if run is None:
        message = "The answer is empty. Say which run is broken: a number from 1 to 5, or 0 for none."
        return Result("not attempted", message=message, max_points=most)
    try:
        cause = known_cause(given.get("cause")) if run else table.NOTHING
    except UserError as error:
        return Result("not attempted", message=str(error), max_points=most)
    right = truth(exercise)
    checks = [_which(run, right)]
    if checks[0].passed:
        checks += [_cause(cause, right), _reading(given, right)]
    earned = sum(WORTH[check.name] for check in checks if check.passed)
    count = len(opened(given))
    share = round(max(0.0, earned - price(count)), 4) if earned else 0.0
    status = "passed" if all(check.passed for check in checks) else "wrong"
    return Result(status, share, checks, _said(status, share, count), points=round(share * most, 4), max_points=most)


def _which(run: int, right: Truth) -> Check:
    saw = f"You named {f'run {run}' if run else 'none of the runs'}."
    return Check("run", state_of(run == right.run), saw, "Compare one view over all runs, beside its usual ranges.")


def _cause(cause: str, right: Truth) -> Check:
    return Check("cause", state_of(cause in right.causes), f"You named “{cause}”.", f"Right is {right.causes[0]}.")


def _reading(given: Mapping[str, Any], right: Truth) -> Check:
    """Where none is broken, a view tells that was opened for every run."""
    view = _view(given.get("reading"))
    if right.run == NONE:
        looks = {run for name, run in opened(given) if name == view}
        saw = f"You named {f'`{view}`' if view else 'no view'}, which you opened for {len(looks)} of {RUNS} runs."
        good = len(looks) == RUNS and view in recorded_views()
        return Check("reading", state_of(good), saw, "A view that you opened for every run.")
    if view in right.telling:
        return Check("reading", "passed", f"`{view}` tells: {'; '.join(right.telling[view])}.")
    saw = f"You named {f'`{view}`' if view else 'no view'}. No number of it is unusual in this run alone."
    return Check("reading", "wrong", saw, f"One of these views: {', '.join(right.telling)}.")


def _said(status: str, share: float, count: int) -> str:
    cost = f" You opened {count} readings; those after the first {FREE} cost {price(count):.0%} of the points."
    if not share:
        return "Look further."
    head = "" if status == "passed" else "The run is right. Parts marked NO are wrong."
    return f"{head}{cost if price(count) else ''}".strip()


def named_run(given: Any) -> int | None:
    """Return the position that an answer names, or NONE; None for anything else."""
    if parse_answers.words(given) == "none" and given is not None:
        return NONE
    number = parse_answers.number(given)
    return number if number is not None and NONE <= number <= RUNS else None


def _view(given: Any) -> str:
    """Return the name of a view; "" for anything else."""
    names = [name for name in parse_answers.names(given) if name in views.names()]
    return names[0] if names else ""
