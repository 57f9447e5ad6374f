"""Reading declarations, one a file `eNN_topic.py` in a package, and everything that an exercise may be, by name."""

import importlib
import pkgutil
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Any


@cache
def read(package: str, constant: str, kind: type) -> dict[str, Any]:
    """Name -> declaration, in order. Raises ValueError for a file that holds no `constant` of this kind."""
    home = importlib.import_module(package)
    found = {}
    for info in sorted(pkgutil.iter_modules(home.__path__), key=lambda info: info.name):
        made = getattr(importlib.import_module(f"{package}.{info.name}"), constant, None)
        if not isinstance(made, kind):
            raise ValueError(f"{info.name}.py holds no {constant}")
        name = info.name.removeprefix("e")
        found[name] = replace(made, name=name)  # pyright: ignore[reportCallIssue, reportArgumentType]
    return found


def named(given: str, known: Iterable[str]) -> str:
    """Which of the names somebody means who gives a name or its number; "" where it is none of them."""
    return next((name for name in known if given and given.zfill(2) in (name, name.split("_")[0])), "")


def everything() -> dict[str, Any]:
    """Name -> declaration of every exercise, of whatever kind: each has a `title`."""
    from bugzoo.grading.breaking import breakings
    from bugzoo.grading.exercises import exercises
    from bugzoo.grading.lineup import lineups

    return dict(sorted({**exercises(), **lineups(), **breakings()}.items()))
