"""A program's docstring as handed out: without the facts, and perhaps with another text."""

import re


def without_facts(source: str) -> str:
    """Return a program's text as handed out: its docstring without the facts for graders."""
    return re.sub(r'\n*\[facts\].*?"""', '\n"""', source, count=1, flags=re.DOTALL)


def with_docstring(source: str, text: str) -> str:
    """Return a program's text with another docstring."""
    return re.sub(r'\A""".*?"""', lambda _: f'"""{text}\n"""', source, count=1, flags=re.DOTALL)
