"""Where a script evaluates: the calls of a model without gradients, and the function of the script that made them.

Kept are the arguments of the latest such call from each place, and of the function around it what it was called with, so that
an instrument can look at what went in, and call the function once more when the run is over.
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
from bugzoo.watching.moment import Moment
from bugzoo.watching.state import detached

MOST = 6
"""Places that are kept: training, validation and test, each from two lines."""
Place = tuple[CodeType, CodeType | None, int]
"""The function that evaluates, the one that called it, and the line there."""


@dataclass
class Evaluation:
    """The first call of a `module` in one evaluation, from one place.

    `again` is the function of the script around it with its arguments, for `bugzoo.rerun.evaluation` to call; None where that
    is not known.
    """

    step: int
    """The number of the step that came next."""
    module: nn.Module
    args: tuple[Any, ...]
    name: str
    again: partial[Any] | None = None


@dataclass
class Evaluations:
    """Filled by `Forwards`, one call for every forward without gradients."""

    moment: Moment
    found: dict[Place, Evaluation] = field(default_factory=dict)
    _last: tuple[Place, int] | None = None

    def called(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """`module` is about to run without gradients."""
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
        """The outermost function around this call that only evaluates, and what called it; else the innermost.

        One that was there when the optimiser stepped, or that steps itself, does more.
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
    """The frame's function with the arguments that it has now; None where it, or one of them, is not to be found."""
    code, names = frame.f_code, frame.f_locals
    count = code.co_argcount
    plain = list(code.co_varnames[:count])
    only = code.co_varnames[count : count + code.co_kwonlyargcount]
    rest = list(code.co_varnames[count + code.co_kwonlyargcount :])
    if any(name not in names for name in (*plain, *only)):
        return None
    function = next((one for one in _candidates(frame, plain) if _is_of(one, code)), None)
    if function is None:
        return None
    positional = [names[name] for name in plain[inspect.ismethod(function) :]]
    keywords = {name: names[name] for name in only}
    if code.co_flags & inspect.CO_VARARGS:
        positional += names.get(rest.pop(0), ())
    if code.co_flags & inspect.CO_VARKEYWORDS:
        keywords |= names.get(rest.pop(0), {})
    positional, keywords = detached((positional, keywords))  # a loss that is handed over keeps no graph alive here
    return partial(function, *positional, **keywords)


def _candidates(frame: FrameType, plain: list[str]) -> Iterator[Any]:
    """What the function may be bound to: a method of its first argument, a global, a name of a function around the call."""
    name = frame.f_code.co_name
    if plain:
        yield getattr(frame.f_locals[plain[0]], name, None)
    yield frame.f_globals.get(name)
    above = frame.f_back
    while above is not None:
        yield above.f_locals.get(name)
        above = above.f_back


def _is_of(function: Any, code: CodeType) -> bool:
    """Is this callable, perhaps under decorators such as `no_grad`, made of `code`?"""
    try:
        inner = inspect.unwrap(function)
    except (ValueError, TypeError):
        return False
    return callable(function) and getattr(getattr(inner, "__func__", inner), "__code__", None) is code
