"""Where a script evaluates: model calls without gradients, and the script's function that makes them.

The arguments of the latest such call from each place are kept, and the arguments of the function around it. So an
instrument can read the inputs, and call the function again after the run.
"""

import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from types import CodeType, FrameType
from typing import Any

from torch import nn

from bugzoo.watching.loop import user_frames
from bugzoo.watching.state import detached
from bugzoo.watching.step_context import StepContext

MOST = 6
"""How many places are kept: training, validation and test, each from two lines."""
Place = tuple[CodeType, CodeType | None, int]
"""The function that evaluates, its caller, and the line of the call."""


@dataclass
class Evaluation:
    """The first call of a `module` in one evaluation, from one place.

    `again` is the script's function around the call, with its arguments, for `bugzoo.rerun.evaluation`. None if unknown.
    """

    step: int
    """The number of the next step."""
    module: nn.Module
    args: tuple[Any, ...]
    name: str
    again: partial[Any] | None = None


@dataclass
class Evaluations:
    """The script's evaluations. `Forwards` calls `called` for every forward pass without gradients."""

    moment: StepContext
    found: dict[Place, Evaluation] = field(default_factory=dict)
    _last: tuple[Place, int] | None = None

    def called(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Record that `module` is about to run without gradients."""
        frame, above = self._function()
        if frame is None:
            return
        place = (frame.f_code, above.f_code if above else None, above.f_lineno if above else 0)
        if self._last == (place, self.moment.step):  # a further batch of the same evaluation
            return
        self._last = (place, self.moment.step)
        if place in self.found or len(self.found) < MOST:
            around = self.moment.loop.around
            alone = around and frame.f_code not in around and frame.f_code.co_name != "<module>"
            again = _call_again(frame) if alone else None
            self.found[place] = Evaluation(self.moment.step, module, detached(args), frame.f_code.co_name, again)

    def _function(self) -> tuple[FrameType | None, FrameType | None]:
        """Return the outermost function around this call that only evaluates, and its caller; else the innermost one.

        A function that was active during optimizer.step(), or that calls it, does more than evaluate.
        """
        loop, best = self.moment.loop, None
        for frame in user_frames(sys._getframe(3)):
            code = frame.f_code
            if best is not None and (
                frame is loop.outside
                or code in loop.around
                or code.co_name == "<module>"
                or code.co_filename != best.f_code.co_filename
                or {"backward", "step"} & set(code.co_names)
            ):
                return best, frame
            if code.co_name == "<module>" or code.co_name[0] != "<":  # a comprehension is part of its function
                best = frame
            if frame is loop.outside:
                break
        return best, None


def _call_again(frame: FrameType) -> partial[Any] | None:
    """Return the frame's function with its current arguments, None if the function or an argument cannot be found."""
    code, names = frame.f_code, frame.f_locals
    count = code.co_argcount
    plain = list(code.co_varnames[:count])
    only = code.co_varnames[count : count + code.co_kwonlyargcount]
    rest = list(code.co_varnames[count + code.co_kwonlyargcount :])
    if any(name not in names for name in (*plain, *only)):
        return None
    function = next((candidate for candidate in _candidates(frame, plain) if _is_of(candidate, code)), None)
    if function is None:
        return None
    positional = [names[name] for name in plain[inspect.ismethod(function) :]]
    keywords = {name: names[name] for name in only}
    if code.co_flags & inspect.CO_VARARGS:
        positional += names.get(rest.pop(0), ())
    if code.co_flags & inspect.CO_VARKEYWORDS:
        keywords |= names.get(rest.pop(0), {})
    positional, keywords = detached((positional, keywords))  # so that a loss argument keeps no graph alive
    return partial(function, *positional, **keywords)


def _candidates(frame: FrameType, plain: list[str]) -> Iterator[Any]:
    """Yield candidates for the function: a method of its first argument, a global, a local name of a caller."""
    name = frame.f_code.co_name
    if plain:
        yield getattr(frame.f_locals[plain[0]], name, None)
    yield frame.f_globals.get(name)
    above = frame.f_back
    while above is not None:
        yield above.f_locals.get(name)
        above = above.f_back


def _is_of(function: Any, code: CodeType) -> bool:
    """Return whether this callable, possibly under decorators such as `no_grad`, has the code object `code`."""
    try:
        inner = inspect.unwrap(function)
    except (ValueError, TypeError):
        return False
    return callable(function) and getattr(getattr(inner, "__func__", inner), "__code__", None) is code
