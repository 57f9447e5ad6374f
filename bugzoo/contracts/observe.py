"""Listen at the calls that have contracts, while a run is watched.

A place of the script is looked at on its first calls, then on the 8th, 16th and so on, and on each 1024th: what a script does
wrong it does each time, and a look costs some microseconds. Nothing is changed: arguments and results are only read, and no
random number is drawn. Numbers on a GPU are fetched together, later.
"""

import functools
import importlib
import inspect
import sys
import threading
from collections.abc import Callable
from types import CodeType
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from bugzoo.contracts import contracts
from bugzoo.contracts.memory import Memory, dropped
from bugzoo.contracts.model import Aside, Call, Contract, Finding, Numbers
from bugzoo.contracts.place import users_frame
from bugzoo.contracts.silence import reason

FIRST, EACH = 4, 1024
PENDING = 256
"""Looks at numbers on a GPU that wait before they are fetched."""
Site = tuple[CodeType, int]
Patch = Callable[[Any, str, Any], None]


def due(count: int) -> bool:
    """Return whether the `count`-th call of a place, from 1, is looked at."""
    return count <= FIRST or not count & (count - 1) or not count % EACH


def by_target() -> dict[str, list[Contract]]:
    """Return dotted name -> its contracts."""
    found: dict[str, list[Contract]] = {}
    for one in contracts().values():
        for target in one.on:
            found.setdefault(target, []).append(one)
    return found


def resolve(target: str) -> tuple[Any, str] | None:
    """Return (object, attribute) of a dotted name; None where its package is not loaded, or has no such part."""
    parts = target.split(".")
    if parts[0] not in sys.modules:
        return None
    for cut in range(len(parts) - 1, 0, -1):
        name = ".".join(parts[:cut])
        if name not in sys.modules:
            try:
                importlib.import_module(name)
            except ImportError:
                continue
        place: Any = sys.modules[name]
        for part in parts[cut:-1]:
            place = getattr(place, part, None)
        return (place, parts[-1]) if hasattr(place, parts[-1]) else None
    return None


class Observer:
    """Listens from `install` to `close`. `findings` and `aside` grow meanwhile.

    `now()` is the number of the next optimizer step. `foreign()` says whether another thread than the watched one runs.
    """

    def __init__(
        self,
        findings: list[Finding],
        now: Callable[[], int] = lambda: 1,
        foreign: Callable[[], bool] = lambda: False,
        note: Callable[[Exception], None] = lambda error: None,
    ) -> None:
        self.findings, self.now, self.foreign, self.note = findings, now, foreign, note
        self.aside: dict[str, str] = {}
        """Id of a contract -> why it could not judge a call."""
        self._known: dict[tuple[str, Site], Finding] = {}
        self._seen: dict[tuple[str, Site], int] = {}
        self._kept: dict[tuple[str, Site], dict[str, Any]] = {}
        self._pending: list[tuple[Contract, Site, int, dict[str, Any]]] = []
        self._inside = threading.local()
        self._memory, self._counting = Memory(), None
        self._closed = False

    def install(self, patch: Patch) -> None:
        """Put a listener in the place of each call. `patch(object, name, new)` does it, and can undo it."""
        for target, some in by_target().items():
            if (found := resolve(target)) is not None:
                place, name = found
                patch(place, name, self.listening(inspect.getattr_static(place, name), tuple(some), target))
        steps_of = self._memory.steps_of

        def count(optimizer: Any, args: Any, kwargs: Any) -> None:
            if not self.foreign():
                steps_of(optimizer).made += 1

        self._counting = register_optimizer_step_post_hook(count)

    def close(self) -> None:
        """Stop listening, also in functions that the script has stored, and fetch what waits."""
        self._closed = True
        if self._counting is not None:
            self._counting.remove()
        try:
            self._look_last()
            self._settle()
        except Exception as error:
            self.note(error)
        self.findings.extend(self._known.values())
        for found in self._known.values():
            found.silenced = reason(found.file, found.line, found.contract)

    def listening(self, original: Any, some: tuple[Contract, ...], target: str = "") -> Any:
        """Return a function that calls `original` and looks at its calls."""
        every = any(one.every for one in some)
        sites: dict[Site, int] = {}
        inside = self._inside
        before = tuple(one for one in some if not one.after)
        after = tuple(one for one in some if one.after)

        @functools.wraps(original)
        def heard(*args: Any, **kwargs: Any) -> Any:
            if torch.compiler.is_compiling():  # a compiled region takes a method's original in its place
                return original(*args, **kwargs)
            if self._closed or getattr(inside, "on", False) or self.foreign():
                return original(*args, **kwargs)
            frame = users_frame(2)
            if frame is None:
                return original(*args, **kwargs)
            site = (frame.f_code, frame.f_lineno)
            count = sites[site] = sites.get(site, 0) + 1
            if not (every or due(count)):
                return original(*args, **kwargs)
            alone = (
                frame is sys._getframe(1)
                and frame.f_code.co_name != "__init__"
                and dropped(frame.f_code, frame.f_lasti)
            )
            inside.on = True
            try:
                self._look(original, before, site, count, args, kwargs, target, alone)
                result = original(*args, **kwargs)
                self._look(original, after, site, count, args, kwargs, target, alone, result)
            finally:
                inside.on = False
            return result

        # so torch.jit and torch.compile take the original in its place, as for functions under @script_if_tracing
        vars(heard).update(__original_fn=original, __script_if_tracing_wrapper=True)
        return heard

    def _look(
        self,
        original: Any,
        some: tuple[Contract, ...],
        site: Site,
        count: int,
        args: Any,
        kwargs: Any,
        target: str,
        alone: bool,
        result: Any = None,
    ) -> None:
        if not some or torch.compiler.is_compiling():
            return
        try:
            bound = _signature(original).bind(*args, **kwargs)
        except (TypeError, ValueError):  # the call itself will raise
            return
        bound.apply_defaults()
        for one in some:
            if not (one.every or due(count)):
                continue
            key = (one.id, site)
            call = Call(
                bound.arguments,
                self._kept.setdefault(key, {}),
                self.now(),
                count,
                result,
                target,
                alone,
                one.id,
                site,
                self._memory,
            )
            try:
                numbers = one.measure(call)
                if numbers is not None:
                    self._judge_or_wait(one, site, call.step, dict(numbers))
            except Aside as why:
                self.aside.setdefault(one.id, str(why))
            except Exception as error:  # an exotic argument must not stop the script
                self.aside.setdefault(one.id, f"{type(error).__name__}: {error}"[:200])

    def _look_last(self) -> None:
        """Judge what was noted of objects, at the place where each was met first."""
        for one in (one for one in contracts().values() if one.last is not None):
            for kept in self._memory.everything(one.id):
                try:
                    numbers = one.last(kept.notes) if one.last is not None and kept.notes else None
                    if numbers is not None:
                        self._judge_or_wait(one, kept.site, kept.step, dict(numbers))
                except Aside as why:
                    self.aside.setdefault(one.id, str(why))
                except Exception as error:
                    self.aside.setdefault(one.id, f"{type(error).__name__}: {error}"[:200])

    def _judge_or_wait(self, one: Contract, site: Site, step: int, numbers: dict[str, Any]) -> None:
        if any(isinstance(value, torch.Tensor) and value.device.type != "cpu" for value in numbers.values()):
            self._pending.append((one, site, step, numbers))
            if len(self._pending) >= PENDING:
                self._settle()
            return
        self._judge(one, site, step, {name: _plain(value) for name, value in numbers.items()})

    @torch.no_grad()
    def _settle(self) -> None:
        """Fetch the numbers that wait on a device, in one copy a device."""
        pending, self._pending = self._pending, []
        for device in {v.device for *_, some in pending for v in some.values() if isinstance(v, torch.Tensor)}:
            places = [(some, name) for *_, some in pending for name, value in some.items()
                      if isinstance(value, torch.Tensor) and value.device == device]  # fmt: skip
            block = torch.stack([some[name].detach().reshape(()).double() for some, name in places]).tolist()
            for (some, name), value in zip(places, block, strict=True):
                some[name] = value
        for one, site, step, numbers in pending:
            self._judge(one, site, step, numbers)

    def _judge(self, one: Contract, site: Site, step: int, numbers: Numbers) -> None:
        key = (one.id, site)
        self._seen[key] = self._seen.get(key, 0) + 1
        found = self._known.get(key)
        if one.broken(numbers):
            if found is None:
                code, line = site
                found = self._known[key] = Finding(one.id, code.co_filename, line, step, dict(numbers), 0)
            found.broken += 1
        if found is not None:
            found.seen = self._seen[key]


@functools.lru_cache(maxsize=512)
def _signature(function: Any) -> inspect.Signature:
    return inspect.signature(function)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, torch.Tensor) else value
