"""A text's syntax tree, and its lines as the tree numbers them.

`parse` is `ast.parse`, also from several threads at once.

CPython 3.11 counts the depth of the tree that it hands over in one place for all threads; two of them at it fail now and then
with "SystemError: AST constructor recursion depth mismatch". Reentrant, as a collection of garbage may come in between.
"""

import ast
import io
from threading import RLock
from typing import Any

_one_at_a_time = RLock()


def parse(source: str, mode: str = "exec") -> Any:
    """As `ast.parse`. Raises SyntaxError, and ValueError for a text with null bytes."""
    with _one_at_a_time:
        return ast.parse(source, mode=mode)


def assigned(source: str) -> dict[str, ast.expr]:
    """Name -> the first value that it is given at the top level."""
    places: dict[str, ast.expr] = {}
    for node in parse(source).body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            places.setdefault(node.targets[0].id, node.value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
            places.setdefault(node.target.id, node.value)
    return places


def last_name(node: ast.AST) -> str:
    """`step` of `optimizer.step` and of `step`; "" for what is neither a name nor an attribute."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def called(node: ast.AST) -> set[str]:
    """Last names of the functions and methods that are called in it."""
    return {last_name(one.func) for one in ast.walk(node) if isinstance(one, ast.Call)}


def written(lines: list[str], node: ast.expr, text: str) -> None:
    """Put `text` where a value of one line stands; `lines` with their ends."""
    line = lines[node.lineno - 1].encode()  # the tree counts columns in bytes
    lines[node.lineno - 1] = (line[: node.col_offset] + text.encode() + line[node.end_col_offset :]).decode()


def source_lines(source: str, keepends: bool = False) -> list[str]:
    """The lines of a text as the parser counts them: line N of the tree is `source_lines(source)[N - 1]`.

    `str.splitlines` also ends a line at a form feed, U+2028 and five more characters that may stand in a comment; every
    line behind one would be off by one.
    """
    found = list(io.StringIO(source, newline=""))  # ends at \n, \r\n and \r, and keeps them
    return found if keepends else [line.rstrip("\r\n") for line in found]
