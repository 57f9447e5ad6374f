"""The exercises: one short declaration a file, `EXERCISE = Exercise(...)`, named as its notebook will be.

The file names, like everything that a learner sees, speak of the symptom and never of the cause.
"""

import importlib
import pkgutil
from dataclasses import replace
from functools import cache

from bugzoo.errors import unknown
from bugzoo.grading.model import Exercise


@cache
def exercises() -> dict[str, Exercise]:
    """All of them, name -> declaration, in order. Raises ValueError for a file that declares too little."""
    found = {}
    for info in sorted(pkgutil.iter_modules(__path__), key=lambda info: info.name):
        if info.name.startswith("_"):
            continue
        declared = getattr(importlib.import_module(f"{__name__}.{info.name}"), "EXERCISE", None)
        name = info.name.removeprefix("e")
        if not isinstance(declared, Exercise):
            raise ValueError(f"{info.name}.py holds no EXERCISE")
        found[name] = replace(declared, name=name)
    return found


def load(name: str) -> Exercise:
    """One exercise by name or by its number. Raises UserError with the nearest names for an unknown one."""
    known = exercises()
    numbered = {stem.split("_")[0]: stem for stem in known}
    name = numbered.get(name.zfill(2), name) if name else name
    if name not in known:
        raise unknown("exercise", name, known, "bugzoo list exercises")
    return known[name]
