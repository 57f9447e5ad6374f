"""Texts that other people wrote, such as a student's error message, made safe to show in a terminal or a spreadsheet.

printable("\\x1b[31mPASSED\\x1b[0m")   # 'PASSED': no control characters, so no colors and no moving cursor
csv_cell("=1+1")                     # "'=1+1": a spreadsheet shows it and does not compute it
"""

import re
from typing import Any

_SEQUENCE = re.compile(
    r"(?:\x1b\]|\x9d).*?(?:\x07|\x1b\\|\x9c|$)"  # a title, a link: up to its end, which may be missing
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f]).*?(?:\x1b\\|\x9c|$)"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # colors, a moving cursor, a cleared screen
    r"|\x1b[ -/]*[0-~]?"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters but tab and newline, marks that turn the direction of writing, and halves of characters."""
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_FORMULA = tuple("=+-@\t\r＝＋－＠")
"""What a formula begins with. Some spreadsheets also read the full-width signs."""


def printable(text: str) -> str:
    """Return `text` without escape sequences and control characters. Tabs and line ends stay, as `\\n`."""
    text = re.sub(r"\r\n?|[\u2028\u2029]", "\n", _SEQUENCE.sub("", text))
    return _CONTROL.sub("", text)


def printable_in(value: Any) -> Any:
    """Return a value of JSON types with every text in it made printable, keys included."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {printable_in(key): printable_in(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [printable_in(part) for part in value]
    return value


def csv_cell(value: object) -> str:
    """Return the text of a cell on one line. A text that a spreadsheet would compute gets an apostrophe in front."""
    text = " ".join(printable(str(value)).split())
    return f"'{text}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text
