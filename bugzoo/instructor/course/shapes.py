"""The shape of a program: its statements with every name of its own replaced by the order in which it appears.

Two programs that differ in names, comments, layout, type hints and the order of keywords have the same shape. Constants,
and the names of torch and Python, stay what they are. What somebody changed is a set of shapes: statements that came,
statements that went, new neighbours (a statement that was moved changes nothing but those), and new parts of statements.
"""

import ast
import builtins
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from bugzoo.syntax import parse

_SKIPPED = {"ctx", "type_comment", "annotation", "returns", "type_params", "kind", "simple"}
_BODIES = {"body", "orelse", "finalbody", "handlers", "cases"}
_PARTS = (ast.Call, ast.BinOp, ast.Compare, ast.BoolOp, ast.Subscript, ast.IfExp, ast.Lambda, ast.ListComp)
_KNOWN = frozenset(dir(builtins))


@dataclass(frozen=True)
class Shape:
    """How often each statement, each pair of neighbours and each part of a statement is there."""

    statements: Counter[str] = field(default_factory=Counter)
    neighbours: Counter[str] = field(default_factory=Counter)
    parts: Counter[str] = field(default_factory=Counter)


def shape(source: str) -> Shape:
    """The shape of a program's text. Raises SyntaxError, ValueError and RecursionError for a text that is no program."""
    tree = parse(source)
    names, found = _names(tree), Shape()
    for before, node in _statements(tree.body, ""):
        text, other = _text(node, names), _text(before, names) if isinstance(before, ast.AST) else before
        found.statements[text] += 1
        found.neighbours[f"{other} ; {text}"] += 1
        for part in _within(node):
            if isinstance(part, _PARTS):
                found.parts[_text(part, names)] += 1
    return found


def changes(before: Shape, after: Shape) -> frozenset[str]:
    """What came and what went, a text each. Empty where the two have the same shape."""
    came = {f"came: {text}" for text in after.statements - before.statements}
    went = {f"went: {text}" for text in before.statements - after.statements}
    beside = {f"beside: {text}" for text in after.neighbours - before.neighbours}
    parts = {f"part: {text}" for text in after.parts - before.parts}
    return frozenset(came | went | beside | parts)


@dataclass
class _Names:
    """What the names of a program stand for."""

    imported: dict[str, str] = field(default_factory=dict)
    own: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    """Methods and attributes of its own classes."""
    keywords: set[str] = field(default_factory=set)
    """Parameters of its own functions."""


def _names(tree: ast.AST) -> _Names:
    found = _Names()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                found.imported[one.asname or one.name.split(".")[0]] = (
                    one.name if one.asname else one.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            found.imported |= {one.asname or one.name: f"{node.module or ''}.{one.name}" for one in node.names}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.own.add(node.name)
        elif isinstance(node, ast.arg):
            found.own.add(node.arg)
            found.keywords.add(node.arg)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.own.add(node.id)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.own.add(node.name)
        if isinstance(node, ast.ClassDef):
            found.attributes |= _attributes(node)
    found.own -= set(found.imported)
    return found


def _attributes(node: ast.ClassDef) -> set[str]:
    """Methods of a class and what its methods assign to; `forward` and `__init__` are torch's and Python's names."""
    methods = [one for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
    found = {one.name for one in methods if one.name != "forward" and not one.name.startswith("__")}
    for one in methods:
        me = one.args.args[0].arg if one.args.args else ""
        for place in ast.walk(one):
            if isinstance(place, ast.Attribute) and isinstance(place.ctx, ast.Store):
                if isinstance(place.value, ast.Name) and place.value.id == me:
                    found.add(place.attr)
    return found


def _statements(body: list[ast.stmt], before: ast.AST | str) -> Iterator[tuple[ast.AST | str, ast.AST]]:
    """(what stands before it in its block, statement) of every statement but docstrings and imports."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):  # a name is its module's, in whatever way it was fetched
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            continue
        yield before, node
        for name in _BODIES:
            inner = getattr(node, name, None)
            if isinstance(inner, list) and inner:
                yield from _statements(inner, name if name != "body" else node)
        before = node


def _within(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of one statement, without those of the statements in its body."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        for name, value in ast.iter_fields(one):
            if name in _SKIPPED or (name in _BODIES and isinstance(value, list)):
                continue
            for inner in value if isinstance(value, list) else [value]:
                if isinstance(inner, ast.AST):
                    waiting.append(inner)


def _text(node: ast.AST, names: _Names) -> str:
    """One statement, or part of one, with its own names numbered."""
    numbers: dict[str, str] = {}

    def number(kind: str, name: str) -> str:
        return numbers.setdefault(f"{kind}{name}", f"{kind}{len(numbers)}")

    def name(text: str) -> str:
        if text in names.imported:
            return names.imported[text]
        return number("v", text) if text in names.own or text not in _KNOWN else text

    def write(value: object) -> str:
        if isinstance(value, list):
            return f"[{' '.join(map(write, value))}]"
        if not isinstance(value, ast.AST):
            return repr(value)
        if isinstance(value, ast.Name):
            return name(value.id)
        if isinstance(value, ast.arg):
            return name(value.arg)
        if isinstance(value, ast.Attribute):
            attribute = number("a", value.attr) if value.attr in names.attributes else value.attr
            return f"{write(value.value)}.{attribute}"
        if isinstance(value, ast.keyword):
            return f"{number('v', value.arg) if value.arg in names.keywords else value.arg}={write(value.value)}"
        if isinstance(value, ast.AnnAssign) and value.value is not None:
            return f"(Assign [{write(value.target)}] {write(value.value)})"
        parts = []
        for field_name, inner in ast.iter_fields(value):
            if field_name in _SKIPPED or (field_name in _BODIES and isinstance(inner, list)):
                continue
            if field_name == "name" and isinstance(inner, str):
                parts.append(name(inner) if inner != "forward" and not inner.startswith("__") else inner)
            elif field_name == "keywords" and isinstance(inner, list):
                parts.append(f"[{' '.join(sorted(map(write, inner)))}]")
            else:
                parts.append(write(inner))
        return f"({type(value).__name__} {' '.join(parts)})"

    return write(node)
