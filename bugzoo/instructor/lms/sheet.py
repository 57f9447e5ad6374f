"""CSV files: other people's, of which a few cells are filled in and nothing else changes, and cells that no table runs.

A cell that begins with `=`, `+`, `-` or `@` is a formula to Excel, LibreOffice and Google's tables, whoever wrote it.
"""

import codecs
import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path

from bugzoo.errors import UserError
from bugzoo.instructor.submission import readable

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
"""The mark stays in the text as its first letter, so that it is written again."""
_DELIMITERS = ",;\t"


def harmless(text: str) -> str:
    """`text` as a cell that no table takes for a formula: an apostrophe stands in front of one."""
    return "'" + text if text.lstrip(" ").startswith(_FORMULA) else text


def decoded(data: bytes, path: Path, encoding: str | None = None) -> tuple[str, str]:
    """(text, encoding). UTF-8 and UTF-16 tell themselves; anything else was written by Windows, or `encoding` says.

    Raises UserError for bytes that are no text in it.
    """
    marked = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    zeros = data[:400]
    if marked is None and zeros.count(0) > len(zeros) // 4:  # every other byte of Latin letters
        marked = "utf-16-le" if zeros[1::2].count(0) > zeros[::2].count(0) else "utf-16-be"
    tried = [encoding] if encoding else [marked] if marked else ["utf-8", "cp1252"]
    for name in tried:
        try:
            return data.decode(name), name
        except UnicodeDecodeError:
            continue
        except LookupError:
            raise UserError(f"{name!r} is no encoding that Python knows; it is one like utf-8, cp1252, gbk.") from None
    said = " nor ".join(tried)
    raise UserError(f"{path} could not be read as a CSV file in {said}. Save it as UTF-8, or say --encoding NAME.")


def read(path: Path, encoding: str | None = None) -> "Sheet":
    """The table in a file. Raises UserError."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} could not be read: {error.strerror}.") from None
    return Sheet(*decoded(data, path, encoding), path)


class Sheet:
    """A table that is read as it is. `set` changes one cell; `data` gives the file back, with every other byte as it was."""

    def __init__(self, text: str, encoding: str, path: Path) -> None:
        self.text, self.encoding, self.path = text, encoding, path
        first = re.split(r"[\r\n]", text, maxsplit=1)[0]
        self.delimiter = max(_DELIMITERS, key=first.count) if any(map(first.count, _DELIMITERS)) else ","
        self.spans = _spans(text, self.delimiter)
        try:
            self.rows = [[_value(text[a:b]) for a, b in row] for row in self.spans]
        except csv.Error as error:
            raise UserError(f"{path} could not be read as a CSV file: {error}.") from None
        self.changed: dict[tuple[int, int], str] = {}

    @property
    def header(self) -> list[str]:
        """The first line, without what Excel hides before it."""
        return [one.lstrip("\ufeff").strip() for one in self.rows[0]] if self.rows else []

    def cell(self, row: int, column: int) -> str:
        """A cell's text; empty where the line is shorter."""
        return self.rows[row][column] if column < len(self.rows[row]) else ""

    def set(self, row: int, column: int, text: str) -> None:
        self.changed[row, column] = text

    def data(self) -> bytes:
        """The file, with the cells that were set."""
        out, at = [], 0
        for row, column in sorted(self.changed):
            spans, text = self.spans[row], self.changed[row, column]
            missing = max(0, column - len(spans) + 1)
            start, end = spans[column] if not missing else (spans[-1][1],) * 2
            out += [self.text[at:start], self.delimiter * missing, _quoted(text, self.delimiter)]
            at = end
        return ("".join(out) + self.text[at:]).encode(self.encoding)


def _quoted(text: str, delimiter: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(one in text for one in (delimiter, '"', "\n", "\r")) else text


def _value(raw: str) -> str:
    raw = raw.lstrip("\ufeff")
    return raw[1:-1].replace('""', '"') if len(raw) > 1 and raw[0] == raw[-1] == '"' else raw


def _spans(text: str, delimiter: str) -> list[list[tuple[int, int]]]:
    """(start, end) of each cell of each line that is not empty. Quoted cells may hold delimiters and line ends."""
    rows: list[list[tuple[int, int]]] = []
    row: list[tuple[int, int]] = []
    start = at = 1 if text.startswith("\ufeff") else 0
    while at <= len(text):
        if at == start and text[at : at + 1] == '"':
            at += 1
            while 0 <= (quote := text.find('"', at)) and text[quote + 1 : quote + 2] == '"':
                at = quote + 2
            at = quote + 1 if quote >= 0 else len(text)
        one = text[at : at + 1]
        if one == delimiter or one in ("\n", "\r", ""):
            row.append((start, at))
            if one != delimiter:
                if len(row) > 1 or row[0][0] < row[0][1]:
                    rows.append(row)
                row = []
                at += 1 if text[at : at + 2] == "\r\n" else 0
            start = at + 1
        at += 1
    return rows


def written(rows: Sequence[Sequence[str]]) -> str:
    """Rows as a CSV file of our own: quoted where needed, and nothing in it is a formula."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([[harmless(readable(cell)) for cell in row] for row in rows])
    return out.getvalue()
