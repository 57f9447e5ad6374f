"""What a grading does right now, in a line, for a person who waits for it.

`stage` is called where a grading begins something that takes seconds. Without `told` it does nothing. A grading process
tells it on stderr, as stdout holds its answer.
"""

import contextlib
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar

MARK = "grading: "
"""Begins each such line on stderr."""
Tell = Callable[[str], object]


def _silent(text: str) -> None:
    pass


_tell: ContextVar[Tell] = ContextVar("tell", default=_silent)


@contextlib.contextmanager
def told(tell: Tell) -> Iterator[None]:
    """Pass each stage within the block, in this thread, to `tell`."""
    before = _tell.set(tell)
    try:
        yield
    finally:
        _tell.reset(before)


def telling() -> Tell:
    """Return what gets the stages in this thread."""
    return _tell.get()


def stage(text: str) -> None:
    """Tell what begins now, in a few words that name no fault and no number of a check."""
    _tell.get()(text)


def on_stderr(text: str) -> None:
    """Print a stage as a line on stderr, at once."""
    print(f"{MARK}{text} ...", file=sys.stderr, flush=True)


def of_line(line: str) -> str:
    """Return the stage that a line of stderr tells; "" for any other line."""
    return line.removeprefix(MARK).strip() if line.startswith(MARK) else ""
