"""Answers as people write them: spaces, capitals, a full stop, a number in quotes, the letter of a test in brackets."""

import re
from collections.abc import Sequence
from typing import Any


def words(text: Any) -> str:
    """Small letters, single spaces, nothing around them."""
    return " ".join(str(text or "").lower().split()).strip(" .,;:!\"'")


def number(given: Any) -> int | None:
    """A whole number out of 57, 57.0, "57", "line 57" or [57, 58]; None where there is none."""
    if isinstance(given, list | tuple):
        return number(given[0]) if given else None
    if isinstance(given, bool) or given is None:
        return None
    if isinstance(given, int | float):
        return int(given) if given == given // 1 else None
    found = re.fullmatch(r"\D*(\d{1,9})\b\D*", str(given))
    return int(found[1]) if found else None


def names(given: Any) -> list[str]:
    """Names of instruments, in their order; one alone need not be a list."""
    listed = re.split(r"[,;]", given) if isinstance(given, str) else given if isinstance(given, list | tuple) else []
    tidy = (re.sub(r"[\s-]+", "_", words(name).strip("`")) for name in listed)
    return [name for name in tidy if name]


def letter(given: Any, texts: Sequence[str]) -> str:
    """The letter of a test out of "b", "(B)", "test B", "B: the text" or the text itself; "" where it is none of them."""
    said = words(given)
    for index, text in enumerate(texts):
        if said == words(text):
            return "ABCDEFG"[index]
    found = re.match(r"(?:test |answer )?\W*([a-g])(?:\W|$)", said)
    # a sentence that begins with "A" is no letter
    return found[1].upper() if found and not re.match(r"a [a-z]", said) else ""
