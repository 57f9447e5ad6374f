"""What contracts keep of the script's objects between calls: a demand may concern two calls of one optimizer."""

import weakref
from collections.abc import Iterator
from typing import Any

from bugzoo.contracts.model import Aside

MOST = 4096
"""Objects that one contract remembers. A script that makes a new one each step is known by then."""


class Kept:
    """What one contract noted of one object, and where it was noted first. The object itself may be gone."""

    def __init__(self, thing: Any, site: Any, step: int) -> None:
        self.thing, self.site, self.step = weakref.ref(thing), site, step
        self.notes: dict[Any, Any] = {}


class Steps:
    """How many steps an optimizer has made while watched. A contract may keep it after the optimizer is gone."""

    made = 0


class Memory:
    """The notes of one watch. No object is kept alive."""

    def __init__(self) -> None:
        self.steps: weakref.WeakKeyDictionary[Any, Steps] = weakref.WeakKeyDictionary()
        """Of each optimizer that has stepped, or that was asked for."""
        self._now: dict[tuple[str, int], Kept] = {}
        self._all: dict[str, list[Kept]] = {}
        self._shared: dict[str, dict[str, Any]] = {}

    def steps_of(self, optimizer: Any) -> Steps:
        steps = self.steps.get(optimizer)
        if steps is None:
            steps = self.steps[optimizer] = Steps()
        return steps

    def about(self, contract: str, thing: Any, site: Any, step: int) -> dict[Any, Any]:
        """Return the notes about an object, empty at first. Raises Aside where it cannot be remembered."""
        key = (contract, id(thing))
        entry = self._now.get(key)
        if entry is None or entry.thing() is not thing:
            try:
                entry = Kept(thing, site, step)
            except TypeError:
                raise Aside(f"a {type(thing).__name__} cannot be remembered") from None
            every = self._all.setdefault(contract, [])
            if len(every) >= MOST:
                raise Aside(f"more than {MOST} objects")
            every.append(entry)
            self._now[key] = entry
        return entry.notes

    def shared(self, contract: str) -> dict[str, Any]:
        """Return the notes that all calls of one contract share, empty at first."""
        return self._shared.setdefault(contract, {})

    def everything(self, contract: str) -> Iterator[Kept]:
        """Return what was noted of each object, in the order in which they were met."""
        yield from self._all.get(contract, ())
