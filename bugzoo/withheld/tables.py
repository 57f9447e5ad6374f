"""scikit-learn's tables with other rows where the grader's held-out ones are."""

import gzip
import random
from collections.abc import Callable, Mapping
from pathlib import Path

_SIDE = 8
"""Pixels of a digit's row and column."""


def write_table(real: Path, target: Path) -> None:
    """Write the table at `real` with other rows to `target`. Each is made of one of the rows that stay."""
    stay, other = KINDS[real.name]
    rows = gzip.decompress(real.read_bytes()).decode().splitlines(keepends=True)
    draw = random.Random(0)  # both files of the patients take the same rows
    picked = [draw.randrange(stay) for _ in rows[stay:]]
    lines = [other(rows[place].rstrip("\n"), draw) + "\n" for place in picked]
    target.write_bytes(gzip.compress("".join(rows[:stay] + lines).encode(), mtime=0))


def _moved(row: str, draw: random.Random) -> str:
    """Return a digit's row of 64 pixels and label, moved by one pixel in one of eight directions."""
    *pixels, label = row.split(",")
    down, right = draw.choice([(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j])
    span = range(_SIDE)
    places = [(y - down, x - right) for y in span for x in span]
    return ",".join([*(pixels[y * _SIDE + x] if y in span and x in span else "0" for y, x in places), label])


def _older(row: str, draw: random.Random) -> str:
    """Return a patient's row, a year older."""
    age, rest = row.split(" ", 1)
    return f"{float(age) + 1:g} {rest}"


def _same(row: str, draw: random.Random) -> str:
    return row


KINDS: Mapping[str, tuple[int, Callable[[str, random.Random], str]]] = {
    "digits.csv.gz": (1437, _moved),
    "diabetes_data_raw.csv.gz": (354, _older),
    "diabetes_target.csv.gz": (354, _same),
}
"""Name of a file -> rows that stay, as programs use them; how another row is made of one of these."""
