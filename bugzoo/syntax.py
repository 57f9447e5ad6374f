"""Parse source code, and split it into lines numbered as in the syntax tree.

`parse` is a thread-safe `ast.parse`. CPython 3.11 has one counter of tree depth for all threads, so two threads
sometimes fail with "SystemError: AST constructor recursion depth mismatch" (https://github.com/python/cpython/issues/106905).
The lock is reentrant because garbage collection may call `parse` in between.
"""

import ast
import io
from threading import RLock
from typing import Any

_one_at_a_time = RLock()
_parse = ast.parse


def parse(source: Any, *given: Any, **named: Any) -> Any:
    """Parse like `ast.parse`. Raises SyntaxError, and ValueError for a text with null bytes."""
    with _one_at_a_time:
        return _parse(source, *given, **named)


def parse_in_threads() -> None:
    """Make `ast.parse` thread-safe for libraries too: `inspect.signature`, `ast.literal_eval` and torch call it."""
    ast.parse = parse


def assigned(source: str) -> dict[str, ast.expr]:
    """Return name -> the first value that is assigned to it at the top level."""
    places: dict[str, ast.expr] = {}
    for node in parse(source).body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            places.setdefault(node.targets[0].id, node.value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
            places.setdefault(node.target.id, node.value)
    return places


def last_name(node: ast.AST) -> str:
    """Return `step` for `optimizer.step` and for `step`, "" for anything but a name or attribute."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def called(node: ast.AST) -> set[str]:
    """Return the last names of the functions and methods that a node calls."""
    return {last_name(call.func) for call in ast.walk(node) if isinstance(call, ast.Call)}


def callees(body: list[ast.stmt]) -> dict[str, set[str]]:
    """Return function or method of a script -> names that it calls."""
    functions: dict[str, set[str]] = {}
    for node in (node for statement in body for node in ast.walk(statement)):
        if isinstance(node, ast.FunctionDef):
            functions[node.name] = functions.get(node.name, set()) | called(node)
    return functions


def reached(names: set[str], own: dict[str, set[str]]) -> set[str]:
    """Return all called names, including calls inside the script's own functions, which `callees` returns."""
    further, waiting = set(names), list(names & own.keys())
    while waiting:
        new = own[waiting.pop()] - further
        further |= new
        waiting += new & own.keys()
    return further


def written(lines: list[str], node: ast.expr, text: str) -> None:
    """Replace a one-line value by `text`, in place. `lines` keep their line endings."""
    line = lines[node.lineno - 1].encode()  # the tree counts columns in bytes
    lines[node.lineno - 1] = (line[: node.col_offset] + text.encode() + line[node.end_col_offset :]).decode()


def source_lines(source: str, keepends: bool = False) -> list[str]:
    """Return the lines as the parser counts them: line N of the tree is `source_lines(source)[N - 1]`.

    `str.splitlines` also splits at a form feed, U+2028 and five more characters. After one of these in a comment, every
    line number would be off by one.
    """
    lines = list(io.StringIO(source, newline=""))  # ends at \n, \r\n and \r, and keeps them
    return lines if keepends else [line.rstrip("\r\n") for line in lines]
