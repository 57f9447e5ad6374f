"""Contracts: what a documented library call demands and does not check.

`F.kl_div` wants log-probabilities, and raises nothing for probabilities. Each entry names the call, what it demands, how that
is seen at the call, and where the documentation says so. A broken contract is a finding, not yet a cause.

An entry is one `Contract` in a file of this folder, by area of the library. No other file changes: `contracts()` finds it.
While a run is watched, `observe.Observer` listens at these calls.
"""

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from types import ModuleType

from bugzoo.contracts.model import Aside, Call, Contract, Finding
from bugzoo.errors import unknown

__all__ = ["Aside", "Call", "Contract", "Finding", "areas", "contract", "contracts"]
PREFIX = "contracts/"
_NO_AREAS = {"memory", "model", "observe", "patching", "place", "values", "silence"}


def _areas() -> Iterator[ModuleType]:
    for area in sorted(module.name for module in pkgutil.iter_modules(__path__)):
        if area not in _NO_AREAS:
            yield importlib.import_module(f"{__name__}.{area}")


@cache
def contracts() -> dict[str, Contract]:
    """Return id -> contract, in the order of areas and of their files. Raises ValueError for a name that is there twice."""
    declared: dict[str, Contract] = {}
    for entry in (entry for area in _areas() for entry in area.CONTRACTS):
        if entry.id in declared:
            raise ValueError(f"two contracts are called {entry.name}")
        declared[entry.id] = entry
    return declared


def areas() -> dict[str, tuple[Contract, ...]]:
    """Return what each area is about -> its contracts."""
    return {(area.__doc__ or "").partition("\n")[0].rstrip("."): area.CONTRACTS for area in _areas()}


def contract(name: str) -> Contract:
    """Return the contract of this id, with or without `contracts/`. Raises UserError for an unknown one."""
    key = name if name.startswith(PREFIX) else PREFIX + name
    if key not in contracts():
        raise unknown("contract", key, list(contracts()), "bugzoo list contracts")
    return contracts()[key]
