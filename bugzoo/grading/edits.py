"""Declared repairs: (old, new) texts made in a program."""

import re

from bugzoo.grading.model import Edits
from bugzoo.syntax import parse


def apply(source: str, edits: Edits) -> str:
    """`source` with each edit made. Raises ValueError when an old text does not occur exactly once, or for bad syntax."""
    for old, new in edits:
        count = source.count(old)
        if count != 1:
            raise ValueError(f"{old!r} occurs {count} times in the program, 1 is needed")
        source = source.replace(old, new)
    parse(source)
    return source


def without_facts(source: str) -> str:
    """A program's text as it is handed out: its docstring without the facts that only graders read."""
    return re.sub(r'\n*\[facts\].*?"""', '\n"""', source, count=1, flags=re.DOTALL)


def with_docstring(source: str, text: str) -> str:
    """A program's text under another docstring."""
    return re.sub(r'\A""".*?"""', lambda _: f'"""{text}\n"""', source, count=1, flags=re.DOTALL)
