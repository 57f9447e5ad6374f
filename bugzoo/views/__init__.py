"""Views: what a learner looks at in a run. Each file shows one thing and is named after what it measures.

A view is a module of this folder. Its docstring starts with its question. `ORDER` lists its rows: numbers of its own, and
the instruments whose numbers stand here, as their records say. `measure(run)` returns what the view measures itself, for
its picture and for rows of its own. `draw(numbers, figure)` draws from that record only: axes with units, a line for each
tensor, and no label that names a cause. A number without a usual range is a fact about this run.

A view states no cause and gives no verdict: instruments do that, behind `checkup`, as their names and labels give causes away.
"""

import ast
import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from bugzoo import diagnostics
from bugzoo.diagnostics import numbers as records
from bugzoo.diagnostics.numbers import Measured, Number
from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.errors import unknown
from bugzoo.running.reading import Reading
from bugzoo.syntax import assigned

if TYPE_CHECKING:
    from bugzoo.running.result import Run

HEADINGS = {
    "data": ("batch",),
    "loss": ("loss_curve", "outputs", "one_batch", "evaluation"),
    "gradients and updates": ("gradients", "updates", "learning_rate"),
    "model": ("weights", "modes", "layers", "influence"),
    "machine": ("memory", "time", "ranks", "repeat"),
}
"""Heading -> its views, in the order in which they are listed."""


def names() -> list[str]:
    """Return the names of all views, in the order of the list."""
    return [name for heading in HEADINGS.values() for name in heading]


def view(name: str) -> ModuleType:
    """Return the view's module. Raises UserError for an unknown name."""
    return importlib.import_module(f"{__name__}.{existing(name)}")


def existing(name: str) -> str:
    """Return the name of a view. Raises UserError for an unknown one."""
    if name not in names():
        raise unknown("view", name, names(), "program.views()")
    return name


def question(name: str) -> str:
    """Return the question that the view answers: the first line of its docstring."""
    return (view(name).__doc__ or "").strip().split("\n")[0]


@cache
def rows(name: str) -> tuple[Number, ...]:
    """Return the view's rows, read without an import, which would import torch. Raises UserError for an unknown view.

    An instrument in `ORDER` stands for all of its numbers in this view that `ORDER` does not name one by one.
    """
    file = Path(__file__).parent / f"{existing(name)}.py"
    fields = records.fields_of(file)
    view_rows: list[Number] = []
    order = ast.literal_eval(assigned(file.read_text(encoding="utf-8"))["ORDER"])
    for entry in order:
        instrument, _, key = entry.partition(".")
        if entry in fields:
            view_rows.append(replace(fields[entry], source=entry, view=name))
            continue
        numbers = records.of_instrument(instrument)
        keys = [key] if key else [key for key, number in numbers.items() if number.view == name and not number.hidden]
        view_rows += [numbers[key] for key in keys if entry == (source := numbers[key].source) or source not in order]
    return tuple(view_rows)


def views_of(claims: Iterable[str]) -> list[str]:
    """Return the views in which `instrument` or `instrument.key` stand, each once; unknown names are left out."""
    candidates: list[str | None] = []
    for claim in claims:
        name, _, key = claim.partition(".")
        if name in diagnostics.names():
            number = records.of_instrument(name).get(key)
            candidates.append(number.view if number else diagnostics.declared(name).get("VIEW"))
    return list(dict.fromkeys(view for view in candidates if view))


def instruments(name: str) -> list[str]:
    """Return the instruments whose numbers stand in the view, in the order of its rows."""
    return list(dict.fromkeys(row.source.split(".")[0] for row in rows(name) if "." in row.source))


def reruns(name: str) -> int:
    """Return how many more runs of the script the view needs."""
    return sum(diagnostics.reruns(instrument) for instrument in instruments(name))


Limit = Callable[[Callable[[], Any]], Any]
"""Calls a function, and raises NotApplicable where that takes too long."""


def measure(run: "Run", names: list[str], limit: Limit = lambda part: part(), **how: Any) -> dict[str, Reading]:
    """Return a reading for each view: its own numbers, and `instrument.key` for those of its instruments.

    `limit` calls each part. `how` goes to the view's own `measure`, such as `step` of `batch`. This is a `Job.after` function.
    """
    return {name: _measured(name, run, limit, how) for name in names}


def _measured(name: str, run: "Run", limit: Limit, how: dict[str, Any]) -> Reading:
    why: list[str] = []
    numbers: dict[str, Any] = {}
    try:
        numbers |= limit(lambda: view(name).measure(run, **how).measured())
    except NotApplicable as error:
        if how:  # what was asked for is not there, such as a step after the last one
            return Reading(why_not=str(error))
        why.append(str(error))
    except Exception as error:  # a script may do anything when its model is called again
        why.append(f"could not measure ({type(error).__name__}: {error})"[:200])
    for instrument in instruments(name):
        try:
            reading = limit(partial(diagnostics.read, instrument, run))
        except NotApplicable as over:
            reading = Reading(why_not=str(over))
        numbers |= {f"{instrument}.{key}": value for key, value in reading.numbers.items()}
        why += [reading.why_not] if reading.why_not else []
    return Reading(numbers) if numbers else Reading(why_not=why[0] if why else "nothing was seen")


def draw(name: str, numbers: Mapping[str, Any] | Measured, figure: Any) -> None:
    """Draw a view's picture of a reading's numbers into a matplotlib figure."""
    module = view(name)
    module.draw(module.Numbers.from_mapping(numbers), figure)


def outside(name: str, numbers: Mapping[str, Any]) -> list[Number]:
    """Return the rows whose number is outside its usual range."""
    return [row for row in rows(name) if row.outside(numbers)]
