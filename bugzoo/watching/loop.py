"""Finding the training loop of code that knows nothing of us: the innermost loop around both backward and step."""

import ast
import contextlib
import linecache
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any

import torch

from bugzoo.syntax import parse

_ROOM = os.path.dirname(__file__)
_RERUN = os.path.join(os.path.dirname(_ROOM), "rerun")
_OWN = (os.path.dirname(torch.__file__) + os.sep, _ROOM + os.sep, _RERUN + os.sep, contextlib.__file__)
LoopNode = ast.For | ast.While


@dataclass
class Loop:
    """A loop in a file: `around` are the loops that enclose `node` in the same function, outermost first."""

    file: str
    code: CodeType
    node: LoopNode
    around: list[LoopNode]
    names: tuple[str, ...] = ()
    """Names that a new iteration binds: the targets of the `for` loops and what `next(...)` is assigned to."""
    outer: tuple[str, ...] = ()
    """Those of the loops around this one."""
    fetched: tuple[str, ...] = ()
    """Those that come from `next(...)`."""
    nested: list[LoopNode] = field(default_factory=list)

    def holds(self, line: int) -> bool:
        return self.node.body[0].lineno <= line <= last_line(self.node.body[-1])

    def in_nested(self, line: int) -> bool:
        return any(n.lineno <= line <= last_line(n) for n in self.nested)


def last_line(node: ast.stmt) -> int:
    """The line that a statement ends in; a parser always knows it."""
    return node.end_lineno or node.lineno


def is_user_file(file: str) -> bool:
    """Neither torch's own, nor the watch's, nor that of what runs a part of the script again."""
    return not file.startswith(_OWN)


def user_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames of the watched code, innermost first."""
    while frame is not None:
        if is_user_file(frame.f_code.co_filename):
            yield frame
        frame = frame.f_back


def statements(tree: Any) -> Iterator[ast.stmt]:
    """All statements below `tree`: many times faster than ast.walk, which visits every expression."""
    for block in ("body", "orelse", "finalbody", "handlers", "cases"):
        for node in getattr(tree, block, ()):
            yield node
            yield from statements(node)


def stored_names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def is_fetch(node: ast.AST) -> bool:
    """`x, y = next(iterator)`, also with `.to(device)` behind it or taken apart by a comprehension."""
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
    """All loops of a file's text, read once for the several runs of one kernel."""
    try:
        return [n for n in statements(parse(source)) if isinstance(n, ast.For | ast.While)]
    except (SyntaxError, ValueError):
        return []


class LoopFinder:
    """Remembers the frame that runs the training loop."""

    def __init__(self) -> None:
        self.outside: FrameType | None = None
        """The frame that entered the watch, and the line where it did: what lies around that is not the training."""
        self.outside_line = 0
        self._backward: list[tuple[FrameType, int]] = []
        self._tries = 0
        self.loop: Loop | None = None
        self.frame: FrameType | None = None
        self.step_line = 0
        """Line of the loop's frame in which the optimiser stepped; 0 while that is not known."""
        self.around: set[CodeType] = set()
        """What was being run when the optimiser stepped, from the loop's function outwards."""

    def _frames(self) -> Iterator[FrameType]:
        """The watched code's frames, innermost first, up to the one that entered the watch."""
        for frame in user_frames(sys._getframe(2)):
            yield frame
            if frame is self.outside:
                return

    def loop_at(self, frame: FrameType, *lines: int) -> Loop | None:
        """The innermost loop of the frame's own function whose body holds all `lines`."""
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
        own = sorted(stored_names(node.target)) if isinstance(node, ast.For) else []
        nested = [n for n in statements(node) if isinstance(n, ast.For | ast.While)]
        names = tuple(dict.fromkeys([*own, *outer, *fetched]))
        return Loop(code.co_filename, code, node, outside, names, tuple(outer), tuple(fetched), nested)

    def at_backward(self) -> None:
        if self.loop is None and self._tries < 3:
            self._backward = [(frame, frame.f_lineno) for frame in self._frames()]

    def after_step(self) -> None:
        """Look for the loop, on the first steps only."""
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
        self._backward = []

    def guess(self) -> tuple[FrameType, Loop] | None:
        """The likely training loop around the call that is being made now, before any step was seen."""
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
        """The frame of the loop, when the call that is being made now comes from within its body."""
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
        """Search no more."""
        self._tries = 3

    def namespace(self) -> dict[str, Any]:
        """Globals of the loop's frame, its locals on top; the live dict itself for a loop at a script's top level."""
        if self.frame is None:
            return {}
        if self.frame.f_locals is self.frame.f_globals:
            return self.frame.f_globals
        return {**self.frame.f_globals, **self.frame.f_locals}
