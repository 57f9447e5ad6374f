"""Find the training loop of any script: the innermost loop around both backward() and step()."""

import ast
import contextlib
import linecache
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import takewhile
from types import CodeType, FrameType
from typing import Any

import torch

from bugzoo.syntax import parse

_ROOM = os.path.dirname(__file__)
_BESIDE = [os.path.join(os.path.dirname(_ROOM), name) + os.sep for name in ("rerun", "contracts")]
_OWN = (os.path.dirname(torch.__file__) + os.sep, _ROOM + os.sep, *_BESIDE, contextlib.__file__)
LoopNode = ast.For | ast.While


@dataclass
class Loop:
    """A loop in a file. `around`: the loops that enclose `node` in the same function, outermost first."""

    file: str
    code: CodeType
    node: LoopNode
    around: list[LoopNode]
    names: tuple[str, ...] = ()
    """Names that a new iteration binds: targets of the `for` loops and names assigned from `next(...)`."""
    outer: tuple[str, ...] = ()
    """Those of the outer loops."""
    fetched: tuple[str, ...] = ()
    """Those assigned from `next(...)`."""
    nested: list[LoopNode] = field(default_factory=list)

    def holds(self, line: int) -> bool:
        return self.node.body[0].lineno <= line <= last_line(self.node.body[-1])

    def in_nested(self, line: int) -> bool:
        return any(n.lineno <= line <= last_line(n) for n in self.nested)


@dataclass
class Scope:
    """A function of the script that was active during the training, and its variables at the end."""

    code: CodeType
    frame_globals: dict[str, Any]
    names: dict[str, Any]

    @property
    def owner(self) -> Any:
        """Return the object whose method this is, None for a function."""
        first = self.names.get(self.code.co_varnames[0]) if self.code.co_argcount else None
        return first if hasattr(type(first), self.code.co_name) and hasattr(first, "__dict__") else None


def last_line(node: ast.stmt) -> int:
    """Return the last line of a statement."""
    return node.end_lineno or node.lineno


def is_user_file(file: str) -> bool:
    """Return whether a file is not part of torch, of the watch, of `bugzoo.rerun` or of `bugzoo.contracts`."""
    return not file.startswith(_OWN)


def user_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the frames of the watched code, innermost first."""
    while frame is not None:
        if is_user_file(frame.f_code.co_filename):
            yield frame
        frame = frame.f_back


def statements(tree: Any) -> Iterator[ast.stmt]:
    """Yield all statements below `tree`, much faster than ast.walk, which visits every expression."""
    for block in ("body", "orelse", "finalbody", "handlers", "cases"):
        for node in getattr(tree, block, ()):
            yield node
            yield from statements(node)


def stored_names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def is_fetch(node: ast.AST) -> bool:
    """Return whether this is `x, y = next(iterator)`, also with `.to(device)` or unpacked by a comprehension."""
    if not isinstance(node, ast.Assign):
        return False
    value: ast.AST = node.value
    while True:
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            return value.func.id == "next"
        if isinstance(value, ast.Call | ast.Attribute | ast.Subscript):
            value = value.func if isinstance(value, ast.Call) else value.value
        elif isinstance(value, ast.ListComp | ast.GeneratorExp | ast.DictComp):
            value = value.generators[0].iter
        else:
            return False


@lru_cache(maxsize=8)
def _loops_in(source: str) -> list[LoopNode]:
    """Return all loops of a source text, cached for several runs in one kernel."""
    try:
        return [n for n in statements(parse(source)) if isinstance(n, ast.For | ast.While)]
    except (SyntaxError, ValueError):
        return []


class LoopFinder:
    """Finds and keeps the frame that runs the training loop."""

    def __init__(self) -> None:
        self.outside: FrameType | None = None
        """The frame that entered the watch, and its line there. Loops around that are not the training loop."""
        self.outside_line = 0
        self._backward: list[tuple[FrameType, int]] = []
        self._tries = 0
        self.loop: Loop | None = None
        self.frame: FrameType | None = None
        self.step_line = 0
        """Line of the loop's frame that calls optimizer.step(), 0 while unknown."""
        self.around: set[CodeType] = set()
        """Functions that were active during optimizer.step(), from the loop's function outward."""
        self._outer: list[FrameType] = []
        """Frames of those around the loop's own."""

    def _frames(self) -> Iterator[FrameType]:
        """Yield the watched code's frames, innermost first, up to the one that entered the watch."""
        for frame in user_frames(sys._getframe(2)):
            yield frame
            if frame is self.outside:
                return

    def loop_at(self, frame: FrameType, *lines: int) -> Loop | None:
        """Return the innermost loop in the frame's function whose body contains all `lines`."""
        code = frame.f_code
        first = code.co_firstlineno
        around = [
            n
            for n in _loops_in("".join(linecache.getlines(code.co_filename)))
            if n.lineno >= max(first, self.outside_line if frame is self.outside else 0)
            and all(n.body[0].lineno <= line <= last_line(n.body[-1]) for line in lines)
        ]
        if not around:
            return None
        around.sort(key=lambda n: n.lineno)
        node, outside = around[-1], around[:-1]
        fetched = sorted({name for n in statements(node) if is_fetch(n) for name in stored_names(n)})
        outer = sorted({name for n in outside if isinstance(n, ast.For) for name in stored_names(n.target)})
        targets = sorted(stored_names(node.target)) if isinstance(node, ast.For) else []
        nested = [n for n in statements(node) if isinstance(n, ast.For | ast.While)]
        names = tuple(dict.fromkeys([*targets, *outer, *fetched]))
        return Loop(code.co_filename, code, node, outside, names, tuple(outer), tuple(fetched), nested)

    def at_backward(self) -> None:
        if self.loop is None and self._tries < 3:
            self._backward = [(frame, frame.f_lineno) for frame in self._frames()]

    def after_step(self) -> None:
        """Look for the loop, only on the first steps."""
        if self.loop is not None or self._tries >= 3:
            return
        self._tries += 1
        frames = list(self._frames())
        lines = {id(frame): line for frame, line in self._backward}
        shared = [(frame, lines[id(frame)]) for frame in frames if id(frame) in lines]
        for frame, line in shared or [(frame, frame.f_lineno) for frame in frames]:
            loop = self.loop_at(frame, line, frame.f_lineno)
            if loop is not None:
                self.loop, self.frame, self.step_line = loop, frame, frame.f_lineno
                frames = frames[frames.index(frame) :]
                break
        else:
            self.frame = frames[-1] if frames else None
        self.around |= {frame.f_code for frame in frames}
        self._outer = frames[1:]
        self._backward = []

    def guess(self) -> tuple[FrameType, Loop] | None:
        """Return the likely training loop around the current call, before any step was seen."""
        fallback = None
        for frame in self._frames():
            loop = self.loop_at(frame, frame.f_lineno)
            if loop is None:
                continue
            calls = {n.attr for part in loop.node.body for n in ast.walk(part) if isinstance(n, ast.Attribute)}
            if calls & {"backward", "step"}:
                return frame, loop
            fallback = fallback or (frame, loop)
        return fallback

    def current(self) -> FrameType | None:
        """Return the frame of the loop if the current call comes from inside its body."""
        if self.loop is None:
            return None
        code, frame = self.loop.code, sys._getframe(2)
        while frame is not None:
            if frame.f_code is code:
                if not self.loop.holds(frame.f_lineno):
                    return None
                self.frame = frame
                return frame
            frame = frame.f_back
        return None

    def give_up(self) -> None:
        """Stop searching for the loop."""
        self._tries = 3

    def scopes(self) -> list[Scope]:
        """Return the functions around the training loop with their variables, the outermost first, without the script itself."""
        inward = [*([self.frame] if self.frame is not None else []), *self._outer]
        functions = list(takewhile(lambda frame: frame.f_code.co_name != "<module>", inward))
        return [Scope(frame.f_code, frame.f_globals, dict(frame.f_locals)) for frame in reversed(functions)]

    def namespace(self) -> dict[str, Any]:
        """Return the globals of the loop's frame, overlaid by its locals. At a script's top level, the live dict itself."""
        if self.frame is None:
            return {}
        if self.frame.f_locals is self.frame.f_globals:
            return self.frame.f_globals
        return {**self.frame.f_globals, **self.frame.f_locals}
