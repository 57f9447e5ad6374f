"""Lenient parsing of answers: spaces, capitals, a full stop, a number in quotes, a test's letter in brackets."""

import re
from collections.abc import Sequence
from typing import Any


def words(text: Any) -> str:
    """Return lower-case words with single spaces, stripped."""
    return " ".join(str(text or "").lower().split()).strip(" .,;:!\"'")


def number(given: Any) -> int | None:
    """Return a whole number from 57, 57.0, "57", "line 57" or [57, 58]; None without one."""
    if isinstance(given, list | tuple):
        return number(given[0]) if given else None
    if isinstance(given, bool) or given is None:
        return None
    if isinstance(given, int | float):
        return int(given) if given == given // 1 else None
    match = re.fullmatch(r"\D*(\d{1,9})\b\D*", str(given))
    return int(match[1]) if match else None


def names(given: Any) -> list[str]:
    """Return names of views, in order; a single one need not be a list."""
    listed = re.split(r"[,;]", given) if isinstance(given, str) else given if isinstance(given, list | tuple) else []
    tidy = (re.sub(r"[\s-]+", "_", words(name).strip("`")) for name in listed)
    return [name for name in tidy if name]


def letter(given: Any, texts: Sequence[str]) -> str:
    """Return the letter of a test from "b", "(B)", "test B", "B: the text" or the text itself; else ""."""
    answer = words(given)
    for index, text in enumerate(texts):
        if answer == words(text):
            return "ABCDEFG"[index]
    match = re.match(r"(?:test |answer )?\W*([a-g])(?:\W|$)", answer)
    # a sentence that begins with "A" is not a letter
    return match[1].upper() if match and not re.match(r"a [a-z]", answer) else ""
