"""A program with its line numbers, to read in a notebook."""

import ast

from bugzoo.scenario import Scenario
from bugzoo.syntax import parse, source_lines


def lines(what: Scenario | str) -> None:
    """Print a program with its line numbers, from its first statement on.

    The docstring before it tells what the text of a lesson or an exercise has told already. Lines keep their numbers.
    """
    text = what.source if isinstance(what, Scenario) else what
    begin = first_statement(text)
    for number, line in enumerate(source_lines(text)[begin - 1 :], begin):
        print(f"{number:4d}  {line}")


def first_statement(text: str) -> int:
    """Return the line, from 1, of the first statement that is no docstring; 1 for a text that is not Python or has none."""
    try:
        body = parse(text).body
    except SyntaxError:  # a learner's text is listed as it is
        return 1
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:] if isinstance(body[0].value.value, str) else body
    return body[0].lineno if body else 1
