"""The ten lines of a program around what an edit changed there."""

import difflib
import re
from dataclasses import dataclass

from bugzoo.syntax import source_lines

LINES = 10
"""Of a card, as long as what was changed fits into them."""
MOST = 14
"""Lines of a card whose fault lies in two places, with the gap between them."""
GAP = "..."
_NO_CODE = re.compile(r"\s*(#.*)?")
_IMPORT = re.compile(r"(import|from) ")


@dataclass(frozen=True)
class Excerpt:
    """`lines`: (number in the program, text), number 0 for a gap. `marked`: the numbers that an edit touched."""

    lines: tuple[tuple[int, str], ...]
    marked: tuple[int, ...]

    @property
    def text(self) -> str:
        """As it is shown, with line numbers."""
        width = len(str(max(number for number, _ in self.lines)))
        shown = (f"{number or '':>{width}}  {text}".rstrip() for number, text in self.lines)
        return "\n".join(shown)


def hunks(before: str, after: str) -> list[tuple[int, int]]:
    """Ranges of lines of `after`, from 1, both ends in, that differ from `before`; a removal lies between its neighbours.

    Imports and empty lines do not count, as long as anything else has changed.
    """
    one, two = source_lines(before), source_lines(after)
    found = []
    for kind, i, j, start, end in difflib.SequenceMatcher(None, one, two, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        told = [text for text in (*one[i:j], *two[start:end]) if not _NO_CODE.fullmatch(text)]
        plain = not told or all(_IMPORT.match(text) for text in told)
        found.append((plain, (start + 1, end) if end > start else (max(start, 1), start + 1)))
    telling = [place for plain, place in found if not plain]
    return telling or [place for _, place in found]


def excerpt(before: str, after: str) -> Excerpt | None:
    """Lines of `after` around its differences from `before`; None where they are too many, or too far apart."""
    places, all_lines = hunks(before, after), source_lines(after)
    if not places:
        return None
    if places[-1][1] - places[0][0] < LINES:
        kept = _widened(all_lines, *_numbers(places[0][0], places[-1][1], len(all_lines)))
    else:
        kept = sorted({n for start, end in places for n in _numbers(start - 2, end + 2, len(all_lines), ends=True)})
    lines: list[tuple[int, str]] = []
    for number in kept:
        if lines and number > lines[-1][0] + 1:
            lines.append((0, GAP))
        lines.append((number, all_lines[number - 1]))
    marked = tuple(n for start, end in places for n in range(start, end + 1))
    return Excerpt(tuple(lines), marked) if len(lines) <= MOST else None


def _numbers(start: int, end: int, last: int, ends: bool = False) -> list[int]:
    start, end = max(start, 1), min(end, last)
    return list(range(start, end + 1)) if ends else [start, end]


def _widened(lines: list[str], start: int, end: int) -> list[int]:
    """From `start` to `end`, with a line above and one below in turn until there are LINES of code.

    A heading of a section ends it, so that no card shows two of them.
    """

    def code(number: int) -> bool:
        return 1 <= number <= len(lines) and not lines[number - 1].startswith("# %%")

    while end - start + 1 < LINES:
        before = (start, end)
        start -= code(start - 1)
        end += end - start + 1 < LINES and code(end + 1)
        if before == (start, end):
            break
    while start < end and not lines[start - 1].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return list(range(start, end + 1))
