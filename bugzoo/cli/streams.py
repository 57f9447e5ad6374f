"""Make stdin, stdout and stderr usable if they are closed, unread, ASCII-only or without a width."""

import codecs
import io
import os
import sys
from typing import Any

NAMES = ("stdin", "stdout", "stderr")
NARROWEST, WIDEST = 20, 1000
"""Columns. Tables are padded to the width, so COLUMNS=1000000000 would run out of memory."""

_SPELT = {"·": "-", "–": "-", "—": "-", "…": "...", "“": '"', "”": '"', "’": "'", "µ": "u", "✓": "ok", "✗": "x"}


def mend() -> set[str]:
    """Make the standard streams and the width usable. Returns the names of streams that were closed."""
    closed = _open_closed()
    for name, number in (("stdout", 1), ("stderr", 2)):
        _listen_on(name, number)
    for name in ("COLUMNS", "TERMINAL_WIDTH"):
        _width(name)
    return closed


def _open_closed() -> set[str]:
    """Open /dev/null for each closed descriptor. Otherwise the next opened file would get its number and the output."""
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
    """A pipe that ignores writes after its reader has gone: `bugzoo list | head -1` is not a mistake."""

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
    """Replace letters that a stream cannot encode by ASCII: PYTHONIOENCODING=ascii, or a file name not in UTF-8."""
    assert isinstance(error, UnicodeEncodeError)
    letters = error.object[error.start : error.end]
    return "".join(_SPELT.get(c) or c.encode("ascii", "backslashreplace").decode() for c in letters), error.end


codecs.register_error("bugzoo.spelt", _spelt)


def _width(name: str) -> None:
    """Clamp the width to bounds, and drop a value that is not a width, such as COLUMNS=0 or COLUMNS=wide."""
    width = os.environ.get(name)
    if width is None:
        return
    if not width.isdecimal() or not width.strip("0"):
        del os.environ[name]
    elif len(width) > 4 or not NARROWEST <= int(width) <= WIDEST:
        os.environ[name] = str(NARROWEST if len(width) <= 2 else WIDEST)
