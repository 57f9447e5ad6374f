"""The texts of an exercise's program as its cells give them, and whether two texts are the same program."""

import ast
from functools import lru_cache

from bugzoo.grading.docstring import with_docstring, without_facts
from bugzoo.grading.model import Exercise
from bugzoo.grading.program import join, split
from bugzoo.syntax import parse


def broken_text(exercise: Exercise) -> str:
    """Return the text with the fault."""
    return told(exercise, exercise.scenario.source)


def healthy_text(exercise: Exercise) -> str:
    """Return the same text without the fault."""
    return told(exercise, exercise.scenario.healthy().source)


def told(exercise: Exercise, source: str) -> str:
    """Return a text of the exercise's program as its cells give it, with the docstring of the exercise."""
    text = tidy(source)
    return with_docstring(text, exercise.about) if exercise.about else text


def tidy(source: str) -> str:
    """Return a program's text as its cells give it: without facts, one empty line before each section."""
    return join(split(without_facts(source)))


def same_program(one: str, other: str) -> bool:
    """Return whether two texts hold the same code; docstring, comments and layout do not count."""
    try:
        return _shape(one) == _shape(other)
    except (SyntaxError, ValueError):
        return False


@lru_cache(maxsize=256)
def _shape(source: str) -> str:
    tree = parse(source)
    if ast.get_docstring(tree) is not None:
        del tree.body[0]
    return ast.dump(tree)
