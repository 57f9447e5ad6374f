"""The order of classes and functions that stand in a row: `Block` above `Attention`."""

import ast
from itertools import pairwise
from random import Random

from bugzoo.dialects._text import Cut, Text

KIND = "layout"
_Made = ast.FunctionDef | ast.ClassDef


def rewrite(source: str, draw: Random) -> str | None:
    text = Text(source)
    if text.looks_up:
        return None
    rows: list[list[_Made]] = [[]]
    for one, two in pairwise([*text.tree.body, ast.Pass(lineno=len(text.lines) + 1)]):
        if isinstance(one, _Made):
            rows[-1].append(one)
        if not (isinstance(one, _Made) and isinstance(two, _Made) and not _between(text, one, two)):
            rows.append([])
    cuts: list[Cut] = []
    for some in rows:
        order = _other(some, draw)
        cuts += text.exchanged(some, order) if order != some else []
    return text.edited(cuts)


def _other(made: list[_Made], draw: Random) -> list[_Made]:
    """Another order in which each stands behind what it needs at once."""
    names, order, waiting = [one.name for one in made], [], list(made)
    if len(made) < 2 or len(set(names)) < len(names):
        return made
    while waiting:
        left = {one.name for one in waiting}
        free = [one for one in waiting if not _eager(one) & (left - {one.name})]
        # the last of those that may come: an order that is as far from the old one as it can be
        if not free:
            return made
        order.append(free[-1] if draw.random() < 0.8 else free[0])
        waiting.remove(order[-1])
    return order


def _eager(node: _Made) -> set[str]:
    """Names that are read where it stands: of decorators, bases, defaults, hints and of a class's own statements."""
    if isinstance(node, ast.FunctionDef):
        arguments = node.args
        inside: list[ast.AST | None] = [*node.decorator_list, *arguments.defaults, *arguments.kw_defaults, node.returns]
        inside += [one.annotation for one in [*arguments.args, *arguments.kwonlyargs]]
        return {one.id for part in inside if part for one in ast.walk(part) if isinstance(one, ast.Name)}
    parts = [*node.decorator_list, *node.bases, *(one.value for one in node.keywords)]
    found = {one.id for part in parts for one in ast.walk(part) if isinstance(one, ast.Name)}
    for one in node.body:
        inner = isinstance(one, ast.FunctionDef)
        found |= _eager(one) if inner else {name.id for name in ast.walk(one) if isinstance(name, ast.Name)}
    return found


def _between(text: Text, one: ast.stmt, two: ast.stmt) -> bool:
    """Whether a section begins between them, or a comment that would lose what it is about."""
    first, last = text.rows(one), text.rows(two)
    return first is None or last is None or bool(text.source[first[1] : last[0]].strip())
