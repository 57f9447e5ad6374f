"""The list of evidence in a terminal: pages that fit a screen, each below the ticket."""

import shutil
import textwrap
from collections.abc import Iterable, Sequence

from bugzoo.interview.requests import Request

HEIGHT, WIDTH = 24, 80
"""Lines and columns of the smallest usual terminal."""
LEAST = 8
"""Lines of a page in a terminal that is smaller still."""
NAME = 13
"""Columns for the name of a request."""


def size() -> tuple[int, int]:
    """Return (columns, lines) of a page: never more than HEIGHT lines."""
    columns, lines = shutil.get_terminal_size((WIDTH, HEIGHT))
    return max(40, columns), max(LEAST, min(HEIGHT, lines))


def ticket(name: str, report: str, columns: int) -> list[str]:
    """Return the ticket in at most two lines."""
    return textwrap.wrap(f"Ticket {name}: {' '.join(report.split())}", columns - 1, max_lines=2, placeholder=" …")


def groups(requests: Iterable[Request], seen: Sequence[str], columns: int) -> list[list[str]]:
    """Return the lines of each heading: number, price or "seen", name and question."""
    by_heading: dict[str, list[str]] = {}
    for request in requests:
        mark = "seen" if request.name in seen else str(request.price)
        head = f"{request.number:3}  {mark:>4}  {request.name:{NAME}}  "
        lines = by_heading.setdefault(request.heading, [request.heading])
        lines += textwrap.wrap(head + request.about, columns - 1, subsequent_indent=" " * len(head))
    return list(by_heading.values())


def pages(parts: Iterable[Sequence[str]], lines: int) -> list[list[str]]:
    """Return the parts on pages of at most `lines` lines. A part is broken only if it is longer than a page."""
    sheets: list[list[str]] = []
    for part in parts:
        for first in range(0, len(part), lines):
            piece = list(part[first : first + lines])
            if sheets and len(sheets[-1]) + len(piece) <= lines:
                sheets[-1] += piece
            else:
                sheets.append(piece)
    return sheets


def wrapped(line: str, columns: int) -> list[str]:
    """Return a line broken between words, with what follows indented; a short line is kept as it is."""
    if len(line) < columns:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.wrap(line, columns - 1, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
