"""The exercises: one short declaration per file, `EXERCISE = Exercise(...)`, named as its notebook.

File names, like everything that a learner sees, name the symptom and never the cause.
"""

import importlib
import pkgutil
from dataclasses import replace
from functools import cache

from bugzoo.errors import unknown
from bugzoo.grading import another
from bugzoo.grading.model import Exercise

FORMER = {"16_thirty_times": "16_another_size", "30_the_letter_before": "30_poor_writer"}  # still loaded by these names


@cache
def exercises() -> dict[str, Exercise]:
    """Return name -> declaration of all exercises, in order. Raises ValueError for an incomplete file."""
    found = {}
    for info in sorted(pkgutil.iter_modules(__path__), key=lambda info: info.name):
        if info.name.startswith("_"):
            continue
        declared = getattr(importlib.import_module(f"{__name__}.{info.name}"), "EXERCISE", None)
        name = info.name.removeprefix("e")
        if not isinstance(declared, Exercise):
            raise ValueError(f"{info.name}.py has no EXERCISE")
        found[name] = replace(declared, name=name)
    return found


def with_program() -> dict[str, Exercise]:
    """Return those that hand out a program, and no recorded runs."""
    return {name: exercise for name, exercise in exercises().items() if exercise.kind.program}


def with_diagnosis() -> dict[str, Exercise]:
    """Return those in which a program's fault is looked for."""
    return {name: exercise for name, exercise in with_program().items() if exercise.kind.diagnosis}


def load(name: str) -> Exercise:
    """Return an exercise by name or number, or a drawn case of one, such as `04_flat_loss-1` or `04-1`.

    Raises UserError with the nearest names for an unknown one.
    """
    known = exercises()
    name, number, end = another.parted(name)
    numbered = {stem.split("_")[0]: stem for stem in known}
    name = numbered.get(name.zfill(2), FORMER.get(name, name)) if name else name
    if name not in known:
        raise unknown("exercise", name, known, "bugzoo list exercises")
    return another.case(known[name], number, end) if number else known[name]
