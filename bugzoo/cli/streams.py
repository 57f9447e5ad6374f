"""stdin, stdout and stderr in whatever state they are handed over: closed, unread, in ASCII, without a width."""

import codecs
import io
import os
import sys
from typing import Any

NAMES = ("stdin", "stdout", "stderr")
NARROWEST, WIDEST = 20, 1000
"""Columns. Tables are padded to the width: somebody's COLUMNS=1000000000 would fill the memory."""

_SPELT = {"·": "-", "–": "-", "—": "-", "…": "...", "“": '"', "”": '"', "’": "'", "µ": "u", "✓": "ok", "✗": "x"}


def mend() -> set[str]:
    """Make the standard streams and the width usable; returns the names of those that were closed."""
    closed = _open_closed()
    for name, number in (("stdout", 1), ("stderr", 2)):
        _listen_on(name, number)
    for name in ("COLUMNS", "TERMINAL_WIDTH"):
        _width(name)
    return closed


def _open_closed() -> set[str]:
    """A closed descriptor gets /dev/null: else the next file that is opened takes its number, and what is printed."""
    closed = {name for name in NAMES if getattr(sys, name) is None}
    for number, name in enumerate(NAMES):
        if name in closed:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, open(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False))
    return closed


class _Pipe(io.FileIO):
    """What nobody reads any more takes everything: `bugzoo list | head -1` is no mistake of anybody's."""

    def write(self, data: Any) -> int | None:
        try:
            return super().write(data)
        except BrokenPipeError:
            return memoryview(data).nbytes


def _listen_on(name: str, number: int) -> None:
    old = getattr(sys, name)
    raw = io.BufferedWriter(_Pipe(number, "w", closefd=False))
    new = io.TextIOWrapper(raw, old.encoding, "bugzoo.spelt", line_buffering=number == 2 or old.isatty())
    setattr(sys, name, new)


def _spelt(error: UnicodeError) -> tuple[str, int]:
    """What a stream cannot hold is spelt in ASCII: PYTHONIOENCODING=ascii, or a file name that is no UTF-8."""
    assert isinstance(error, UnicodeEncodeError)
    letters = error.object[error.start : error.end]
    return "".join(_SPELT.get(c) or c.encode("ascii", "backslashreplace").decode() for c in letters), error.end


codecs.register_error("bugzoo.spelt", _spelt)


def _width(name: str) -> None:
    """COLUMNS=0 or COLUMNS=wide says nothing; what is too narrow or too wide to print to is brought into bounds."""
    given = os.environ.get(name)
    if given is None:
        return
    if not given.isdecimal() or not given.strip("0"):
        del os.environ[name]
    elif len(given) > 4 or not NARROWEST <= int(given) <= WIDEST:
        os.environ[name] = str(NARROWEST if len(given) <= 2 else WIDEST)
