"""Listen at the calls that have contracts, while a run is watched.

A place of the script is looked at on its first calls, then on the 8th, 16th and so on, and on each 1024th: what a script does
wrong it does each time, and a look costs some microseconds. Calls without gradients are counted apart. Nothing is changed:
arguments and results are only read, and no random number is drawn. Numbers on a GPU are fetched together, later.
"""

import functools
import inspect
import sys
import threading
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from bugzoo.contracts import contracts
from bugzoo.contracts.memory import Memory
from bugzoo.contracts.model import Aside, Call, Contract, Finding, Numbers, Site
from bugzoo.contracts.patching import by_target, disguised, resolve, undisguise
from bugzoo.contracts.place import FILES, users_frame
from bugzoo.contracts.silence import reason

FIRST, EACH = 4, 1024
PENDING = 256
"""Looks at numbers on a GPU that wait before they are fetched."""
Patch = Callable[[Any, str, Any], None]


class _Heard(NamedTuple):
    """A call, before its arguments have names."""

    site: Site
    number: int
    target: str
    signature: Any
    """The function whose parameters they are."""
    frame: FrameType | None
    """The script's frame, if it made the call itself."""
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def due(count: int) -> bool:
    """Return whether the `count`-th call of a place, from 1, is looked at."""
    return count <= FIRST or not count & (count - 1) or not count % EACH


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
        self._listeners: list[Any] = []
        self._places: dict[tuple[int, str], tuple[str, ...]] = {}
        self._inside = threading.local()
        self._memory, self._counting = Memory(), None
        self._closed = False

    def install(self, patch: Patch) -> None:
        """Put a listener in the place of each call. `patch(object, name, new)` does it, and can undo it."""
        for target, some in by_target().items():
            if (pair := resolve(target)) is not None:
                place, name = pair
                self._places[id(place), name] = tuple(contract.id for contract in some)
                patch(place, name, self.listening(inspect.getattr_static(place, name), tuple(some), target))
        steps_of = self._memory.steps_of

        def count(optimizer: Any, args: Any, kwargs: Any) -> None:
            if not self.foreign():
                steps_of(optimizer).made += 1

        self._counting = register_optimizer_step_post_hook(count)

    def replaced(self, place: Any, name: str) -> None:
        """Note that the script has put something of its own in the place of a call, so that it was not heard."""
        for contract in self._places.get((id(place), name), ()):
            self.aside.setdefault(contract, f"the script replaces `{name}` by a function of its own")

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
        for heard in self._listeners:
            undisguise(heard)
        self._kept, self._memory = {}, Memory()
        self.findings.extend(self._known.values())
        for finding in self._known.values():
            finding.silenced = reason(finding.file, finding.line, finding.contract)

    def listening(self, original: Any, some: tuple[Contract, ...], target: str = "") -> Any:
        """Return a function that calls `original` and looks at its calls."""
        every, pairs = any(contract.every for contract in some), any(contract.pairs for contract in some)
        direct = all(contract.own for contract in some)
        sites: dict[tuple[Site, bool], int] = {}  # an evaluation is counted apart: its line may be the training's, too
        inside = self._inside
        before, after = (tuple(contract for contract in some if contract.after is late) for late in (False, True))
        signature = next((contract.like for contract in some if contract.like is not None), original)
        files = FILES
        # names of its own: its globals will be those of the original
        caller, place_of, looks, compiling, learns, heard_as = (
            sys._getframe,
            users_frame,
            due,
            torch.compiler.is_compiling,
            torch.is_grad_enabled,
            _Heard,
        )
        core: Any = torch._C
        tracer = core._dynamo.eval_frame.get_eval_frame_callback  # not None in what torch.compile leaves to Python, too

        def heard(*args: Any, **kwargs: Any) -> Any:
            if direct and files.get(caller(1).f_code.co_filename) is False:  # a library's line, and it is met often
                return original(*args, **kwargs)
            if compiling() or tracer() is not None or self._closed or self.foreign():
                return original(*args, **kwargs)
            frame, outer = place_of(2), getattr(inside, "frame", None)
            # a library's own calls within one that is looked at are not the script's, but those of its dataset are
            if frame is None or frame is outer or (direct and frame is not caller(1)):
                return original(*args, **kwargs)
            site = (frame.f_code, frame.f_lineno)
            counted = (site, learns())
            count = sites[counted] = sites.get(counted, 0) + 1
            if not (every or looks(count) or (pairs and looks(count + 1))):
                return original(*args, **kwargs)
            call = heard_as(site, count, target, signature, frame if frame is caller(1) else None, args, kwargs)
            inside.frame = frame
            try:
                self._look(before, call)
                result = original(*args, **kwargs)
                self._look(after, call, result)
            finally:
                inside.frame = outer
            return result

        listener = disguised(functools.wraps(original)(heard), original)
        self._listeners.append(listener)
        return listener

    def _look(self, some: Iterable[Contract], heard: _Heard, result: Any = None) -> None:
        number = heard.number
        due_now = [
            contract for contract in some if contract.every or due(number) or (contract.pairs and due(number + 1))
        ]
        if not due_now:
            return
        try:
            bound = _signature(heard.signature).bind(*heard.args, **heard.kwargs)
        except (TypeError, ValueError):  # the call itself will raise
            return
        passed = frozenset(bound.arguments)
        bound.apply_defaults()
        for contract in due_now:
            notes = self._kept.setdefault((contract.id, heard.site), {})
            call = Call(
                bound.arguments, notes, self._memory, contract.id, self.now(), heard.number, result, heard.target, passed,
                heard.site, heard.frame,
            )  # fmt: skip
            with _Aside(self.aside, contract.id):
                numbers = contract.measure(call)
                if numbers is not None:
                    self._judge_or_wait(contract, call.site or heard.site, call.step, dict(numbers))

    def _look_last(self) -> None:
        """Judge what was noted of objects, at the place where each was met first."""
        for contract in contracts().values():
            for entry in self._memory.everything(contract.id) if contract.last is not None else ():
                with _Aside(self.aside, contract.id):
                    numbers = contract.last(entry.notes) if contract.last is not None and entry.notes else None
                    if numbers is not None:
                        self._judge_or_wait(contract, entry.site, entry.step, dict(numbers))

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
        for contract, site, step, numbers in pending:
            self._judge(contract, site, step, numbers)

    def _judge(self, one: Contract, site: Site, step: int, numbers: Numbers) -> None:
        key = (one.id, site)
        self._seen[key] = self._seen.get(key, 0) + 1
        finding = self._known.get(key)
        if one.broken(numbers):
            if finding is None:
                code, line = site
                finding = self._known[key] = Finding(one.id, code.co_filename, line, step, dict(numbers), 0)
            finding.broken += 1
        if finding is not None:
            finding.seen = self._seen[key]


class _Aside:
    """Within it, an error means that the contract cannot judge: an exotic argument must not stop the script."""

    def __init__(self, said: dict[str, str], name: str) -> None:
        self.said, self.name = said, name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, where: Any) -> bool:
        if isinstance(error, Exception):
            why = str(error) if isinstance(error, Aside) else f"{type(error).__name__}: {error}"[:200]
            self.said.setdefault(self.name, why)
        return isinstance(error, Exception)


@functools.lru_cache(maxsize=512)
def _signature(function: Any) -> inspect.Signature:
    return inspect.signature(function)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, torch.Tensor) else value
