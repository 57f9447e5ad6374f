"""A program's docstring: as it is handed out it holds no facts, and perhaps another text."""

import re


def without_facts(source: str) -> str:
    """A program's text as it is handed out: its docstring without the facts that only graders read."""
    return re.sub(r'\n*\[facts\].*?"""', '\n"""', source, count=1, flags=re.DOTALL)


def with_docstring(source: str, text: str) -> str:
    """A program's text under another docstring."""
    return re.sub(r'\A""".*?"""', lambda _: f'"""{text}\n"""', source, count=1, flags=re.DOTALL)
