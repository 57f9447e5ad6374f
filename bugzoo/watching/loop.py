"""Finding the training loop of code that knows nothing of us: the innermost loop around both backward and step."""

import ast
import linecache
import sys
from types import CodeType, FrameType
from typing import Any

_OWN = ("/torch/", "/bugzoo/watching/")


def loops_around(file: str, line: int, parsed: dict[str, Any]) -> list[ast.For | ast.While]:
    """Loops of `file` whose body holds `line`, outermost first; [] when the source is not to be had."""
    if file not in parsed:
        try:
            tree = ast.parse("".join(linecache.getlines(file)))
            parsed[file] = [n for n in ast.walk(tree) if isinstance(n, ast.For | ast.While)]
        except (SyntaxError, ValueError):
            parsed[file] = []
    around = [n for n in parsed[file] if n.body[0].lineno <= line <= n.body[-1].end_lineno]
    return sorted(around, key=lambda n: n.lineno)


class LoopFinder:
    """Remembers the frame that runs the training loop."""

    def __init__(self) -> None:
        self._parsed: dict[str, Any] = {}
        self.code: CodeType | None = None
        self.frame: FrameType | None = None
        self.body: tuple[int, int] | None = None
        self._searched = 0

    def at_backward(self) -> None:
        pass

    def at_step(self) -> None:
        if self.code is not None or self._searched > 3:
            return
        self._searched += 1
        frame = sys._getframe(2)
        outermost = None
        while frame is not None:
            file = frame.f_code.co_filename
            if not any(part in file for part in _OWN):
                outermost = outermost or frame
                around = loops_around(file, frame.f_lineno, self._parsed)
                if around:
                    self.code, self.frame = frame.f_code, frame
                    self.body = (around[-1].body[0].lineno, around[-1].body[-1].end_lineno)
                    return
            frame = frame.f_back
        self.frame = outermost

    def after_step(self, step: int) -> None:
        pass

    def inside(self) -> bool:
        """Does the call that is being made now come from within the training loop's innermost body?"""
        frame = sys._getframe(2) if self.code is not None else None
        while frame is not None:
            if frame.f_code is self.code:
                return self.body[0] <= frame.f_lineno <= self.body[1]
            frame = frame.f_back
        return False

    def namespace(self) -> dict[str, Any]:
        if self.frame is None:
            return {}
        if self.frame.f_locals is self.frame.f_globals:
            return self.frame.f_globals
        return {**self.frame.f_globals, **self.frame.f_locals}
