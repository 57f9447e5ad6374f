"""What a lesson opens while it is proved: programs with their faults, views, instruments.

`listen` notes them in the lesson's kernel; the ledger keeps the list. From it `contents` gives what they are today, without a
run: a renamed row or another text of a program shows that the proof is about something else.
"""

import dataclasses
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any

from bugzoo import diagnostics, views
from bugzoo.scenario import Scenario

_opened: dict[str, dict[str, Any]] = {"programs": {}, "views": {}, "instruments": {}}


def listen() -> None:
    """From now on, note what this process opens. Called before a lesson's first cell."""
    noted = Scenario.__post_init__

    @wraps(noted)
    def made(self: Scenario) -> None:
        noted(self)
        recipe = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)} | {"device": "cpu"}
        recipe["settings"] = {name: _without_folder(value) for name, value in self.settings.items()}
        _opened["programs"][repr(sorted(recipe.items(), key=str))] = recipe

    Scenario.__post_init__ = made  # type: ignore[method-assign]
    views.view = _noting(views.view, "views")
    diagnostics.instrument = _noting(diagnostics.instrument, "instruments")


def _without_folder(value: object) -> object:
    """Return the name of a file in place of its path: a temporary folder has another name in each run."""
    return Path(value).name if isinstance(value, str) and Path(value).is_absolute() else value


def _noting(load: Callable[[str], Any], kind: str) -> Callable[[str], Any]:
    @wraps(load)
    def loaded(name: str) -> Any:
        _opened[kind][name] = name
        return load(name)

    return loaded


def opened() -> dict[str, list[Any]]:
    """Return kind -> what was opened, JSON-able and sorted."""
    return {kind: [entries[key] for key in sorted(entries)] for kind, entries in _opened.items()}


def contents(found: Mapping[str, list[Any]]) -> list[object]:
    """Return the texts of the programs and the rows of the views that a proof opened, as they are now.

    Raises UserError for a program, a fault or a view that is no longer there.
    """
    texts = {Scenario(**recipe).source for recipe in found.get("programs", [])}
    rows = [(name, [(row.source, row.label, row.usual) for row in views.rows(name)]) for name in found.get("views", [])]
    return [sorted(texts), rows]


def roots(found: Mapping[str, list[Any]]) -> list[str]:
    """Return the modules of the views and instruments that a proof opened, for a hash of their code."""
    view_modules = [f"bugzoo.views.{name}" for name in found.get("views", [])]
    measured = [f"bugzoo.diagnostics.{name}" for name in found.get("instruments", [])]
    return view_modules + measured
