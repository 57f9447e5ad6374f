"""The catalogue: every `<family>/<bad_pattern>.py` below this folder holds one `FAULT`; the folder tree is the list.

Other packages add faults through the entry-point group `bugzoo.faults`: the entry's name becomes a prefix of the ids
(`acme:loop/stale_gradients`), its value names the package to walk.
"""

import importlib
import pkgutil
from dataclasses import replace
from functools import cache
from importlib.metadata import entry_points
from types import ModuleType

from bugzoo.errors import unknown
from bugzoo.faults.model import SYMPTOMS, Cause, Change, Either, Fault, LookAlike, Needs, Param, Swap

__all__ = [
    "SYMPTOMS", "Cause", "Change", "Either", "Fault", "LookAlike", "Needs", "Param", "Swap", "catalogue", "load", "walk",
]  # fmt: skip


def walk(package: ModuleType, prefix: str = "") -> dict[str, Fault]:
    """The faults of one package, id -> Fault. Raises ValueError for a file without a valid FAULT."""
    by_id: dict[str, Fault] = {}
    for info in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        tail = info.name.removeprefix(package.__name__ + ".")
        if info.ispkg or "." not in tail:  # families are folders; files at the top are machinery
            continue
        module = importlib.import_module(info.name)
        fault = getattr(module, "FAULT", None)
        if not isinstance(fault, Fault):
            raise ValueError(f"{info.name} holds no FAULT; a fault file ends with `FAULT = Fault(...)`")
        if not module.__doc__:
            raise ValueError(f"{info.name} has no docstring: it is the symptom as a learner would report it")
        if fault.symptom not in SYMPTOMS:
            raise ValueError(f"{info.name}: symptom {fault.symptom!r} is not one of {', '.join(SYMPTOMS)}")
        fault_id = prefix + tail.replace(".", "/")
        by_id[fault_id] = replace(fault, id=fault_id, report=module.__doc__.strip())
    return by_id


@cache
def catalogue() -> dict[str, Fault]:
    """All faults, built-in and from installed packs, sorted by id. Two packs with one prefix raise ValueError."""
    by_id = walk(importlib.import_module(__name__))
    for entry in entry_points(group="bugzoo.faults"):
        more = walk(entry.load(), prefix=f"{entry.name}:")
        clash = sorted(by_id.keys() & more.keys())
        if clash:
            raise ValueError(f"two fault packs are named {entry.name!r}; both define {clash[0]}")
        by_id |= more
    return dict(sorted(by_id.items()))


def load(fault_id: str) -> Fault:
    """One fault by id. Raises UserError with the nearest names for an unknown one."""
    by_id = catalogue()
    if fault_id not in by_id:
        raise unknown("fault", fault_id, by_id, "bugzoo list")
    return by_id[fault_id]
