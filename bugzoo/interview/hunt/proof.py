"""By runs: in which order the bugs of a hunt uncover each other, and whether each repair can be told.

A run with all bugs shows some of them; these are repaired, and the next run shows more, until none is left. A bug that never
shows makes no hunt, and neither does one whose repair changes nothing that is measured while the others are there. That each
shows alone, with all others repaired, is what `bugzoo verify` proves of every cell.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from bugzoo.errors import UserError
from bugzoo.faults.evidence import parse
from bugzoo.faults.model import Fault
from bugzoo.grading.half_repairs import without
from bugzoo.interview.hunt.case import freeze as frozen
from bugzoo.interview.hunt.recipe import Recipe
from bugzoo.proving.cells import named
from bugzoo.proving.measured import measured
from bugzoo.running import Limits
from bugzoo.scenario import Scenario

Progress = Callable[[int, int], None]
SECONDS = 120


class Hidden(UserError):
    """A set of bugs that makes no hunt, and why."""


def proved(recipe: Recipe, progress: Progress | None = None) -> Recipe:
    """The recipe with what was measured of it. Raises Hidden."""
    case, left = recipe.scenario, set(recipe.ids)
    steps, done = 2 * len(left) + 2, 0
    waves: list[tuple[str, ...]] = []

    def tell(by: int) -> None:
        nonlocal done
        done += by
        if progress:
            progress(min(done, steps), steps)

    tell(0)
    [healthy] = look([case.healthy()], case)
    if healthy["outcome"] != "finished":
        raise Hidden(f"Under these settings {recipe.program} does not come to its end even without a bug.")
    tell(1)
    while left:
        now = _left(case, left)
        [result] = look([now], case)
        shown = {fault.id for fault, _ in now.specs if shows(fault, result)}
        tell(1)
        if not shown:
            raise Hidden(f"Beside one another nothing shows {' and '.join(sorted(left))} on {recipe.program}.")
        mended = [_left(case, left - {name}) for name in sorted(shown) if left - {name}]
        for name, after in zip(sorted(shown), look(mended, case), strict=False):
            fault = next(fault for fault, _ in case.specs if fault.id == name)
            if shows(fault, after):
                others = " and ".join(sorted(left - {name}))
                raise Hidden(
                    f"With {name} repaired and {others} still there it looks as if it were not, on {recipe.program}."
                )
        tell(len(shown))
        waves.append(tuple(sorted(shown)))
        left -= shown
    values = tuple((k, round(float(v), 6)) for k, v in healthy["metrics"].items() if isinstance(v, int | float))
    found = replace(recipe, waves=tuple(waves), healthy=values, key=recipe.now())
    _as_written(found)
    if progress:
        progress(steps, steps)
    return found


def _as_written(recipe: Recipe) -> None:
    """In the dialects in which candidates get it the text has to show as much. Raises Hidden."""
    text, case = frozen(recipe).source, recipe.scenario
    job = replace(case.job(limits=Limits(seconds=SECONDS)), source=text)
    names = frozenset().union(*(named(fault) for fault, _ in case.specs))
    [result] = measured([(job, names)])[0]
    shown = {fault.id for fault, _ in case.specs if shows(fault, result)}
    if missing := set(recipe.waves[0]) - shown:
        raise Hidden(f"In other words {recipe.program} does not show {' and '.join(sorted(missing))} any more.")


def first(recipes: Iterable[Recipe], progress: Progress | None = None, tries: int = 20) -> Recipe:
    """The first of these that is proved. Raises UserError, with the last reason, where none is."""
    why = "nothing was drawn: in this program so many bugs of different kinds do not go together"
    for one in islice(recipes, tries):
        try:
            return proved(one, progress)
        except Hidden as hidden:
            why = str(hidden)
    raise UserError(
        f"No hunt was found: {why} Take fewer bugs (--faults), another --level or --seed; `bugzoo hunt list` has proved ones."
    )


def certain(case: Scenario, gone: Sequence[str]) -> list[str]:
    """Those of `gone` that would be seen beside what is left if they were still there: of the others nobody can say that they
    are repaired."""
    left = {fault.id for fault, _ in case.specs} - set(gone)
    if not left:
        return list(gone)
    results = look([_left(case, left | {name}) for name in gone], case)
    return [
        name
        for name, result in zip(gone, results, strict=True)
        if shows(next(fault for fault, _ in case.specs if fault.id == name), result)
    ]


def shows(fault: Fault, result: dict[str, Any]) -> bool:
    """Does everything hold that the fault's file calls its evidence?"""
    return all(parse(text).holds(result) for text in fault.evidence)


def _left(case: Scenario, names: set[str]) -> Scenario:
    return without(case, tuple(fault.id for fault, _ in case.specs if fault.id not in names))


def look(cases: Sequence[Scenario], whole: Scenario) -> list[dict[str, Any]]:
    """The numbers that the evidence of all bugs names, of each case; what is known is not run again."""
    names = frozenset().union(*(named(fault) for fault, _ in whole.specs))
    return measured([(case.job(limits=Limits(seconds=SECONDS)), names) for case in cases])[0]
