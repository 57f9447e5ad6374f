"""The parts of a program that an edit has to leave alone: its model, its optimizer and its loss.

Syntax trees are compared, not texts. Comments, docstrings, annotations and layout do not count, and neither do names:
each name that the program binds itself is replaced by its place in the part. A name that is bound once, to a plain
number or text, is replaced by its value, so `learning_rate = 0` changes the optimizer.
"""

import ast
import copy
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from bugzoo.syntax import parse, source_lines

MOST = 60
"""Characters of a line that a message quotes."""


@dataclass(frozen=True)
class Piece:
    """One statement or use: its form, which is compared, and its line."""

    form: str
    line: int


@dataclass(frozen=True)
class Part:
    """A part of a program: which names it binds, and how they may be used."""

    title: str
    names: Callable[["Syntax"], set[str]]
    free: tuple[str, ...]
    """Uses that may be added or left out: attributes that only read, and "()" for a call."""
    classes: bool = False
    """Whether the program's modules belong to it."""
    statement: str = ""
    """A method whose calls are compared as whole statements."""


PARTS = {
    "model": Part("model", lambda program: {"model"}, ("()", "train", "eval", "training"), classes=True),
    "optimizer": Part(
        "optimizer with its learning rate", lambda program: program.calling("step"), ("step", "zero_grad")
    ),
    "loss": Part(
        "loss", lambda program: program.calling("backward"), ("", "item", "detach", "backward"), statement="backward"
    ),
}
"""Name of a part -> how it is found in any program."""


def changed(part: str, source: str, handed_out: str) -> str:
    """Return where a part of `source` differs from that of the text handed out, in a sentence; "" if it does not.

    Raises SyntaxError, and KeyError for an unknown part.
    """
    ours, theirs = (list(_pieces(PARTS[part], Syntax(text))) for text in (source, handed_out))
    left = Counter(piece.form for piece in theirs)
    for piece in ours:
        left[piece.form] -= 1
        if left[piece.form] < 0:
            return f"Line {piece.line} is not as it was: `{_quoted(source, piece.line)}`."
    if missing := [piece for piece in theirs if left[piece.form] > 0]:
        return f"This line is gone: `{_quoted(handed_out, missing[0].line)}`."
    return ""


def _quoted(source: str, line: int) -> str:
    text = source_lines(source)[line - 1].strip()
    return text if len(text) <= MOST else f"{text[: MOST - 4]} ..."


def _pieces(part: Part, program: "Syntax") -> Iterator[Piece]:
    """Yield what a part consists of: its classes, what binds its names, and uses of these that are not free."""
    names = part.names(program)
    if part.classes:
        for one in ast.walk(program.tree):
            if isinstance(one, ast.ClassDef) and any("Module" in ast.dump(base) for base in one.bases):
                yield Piece(program.form(one), one.lineno)
    for node in ast.walk(program.tree):
        if isinstance(node, ast.Name) and node.id in names:
            if not isinstance(node.ctx, ast.Load):
                yield Piece(program.form(program.statement(node)), node.lineno)
            elif (use := program.use(node)) not in part.free:
                yield Piece(f"use: {use}", node.lineno)
            elif use == part.statement and use:
                yield Piece(program.form(program.statement(node)), node.lineno)


class Syntax:
    """A program's tree with the names that it binds, and the parent of each node."""

    def __init__(self, source: str) -> None:
        self.tree: ast.Module = parse(source)
        self.parents = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}
        stored = [node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name) and _bound(node)]
        arguments = [node.arg for node in ast.walk(self.tree) if isinstance(node, ast.arg)]
        defined = [node.name for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef | ast.FunctionDef)]
        self.own = {*stored, *arguments, *defined}
        times = Counter([*stored, *arguments, *defined])
        self.values = {name: value for name, value in self._constants() if times[name] == 1}

    def _constants(self) -> Iterator[tuple[str, Any]]:
        for node in self.tree.body:
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                try:
                    yield node.targets[0].id, ast.literal_eval(node.value)
                except (ValueError, TypeError):
                    continue

    def calling(self, method: str) -> set[str]:
        """Return the names `x` of calls `x.method(...)`."""
        return {
            node.func.value.id
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == method
            if isinstance(node.func.value, ast.Name)
        }

    def use(self, node: ast.AST) -> str:
        """Return how a name is used: "()" for a call, the attribute that is read, else ""."""
        parent = self.parents[node]
        if isinstance(parent, ast.Call) and parent.func is node:
            return "()"
        if isinstance(parent, ast.Attribute):
            return parent.attr if isinstance(parent.ctx, ast.Load) else f"{parent.attr} = ..."
        return ""

    def statement(self, node: ast.AST) -> ast.AST:
        """Return the innermost statement that holds a node."""
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def form(self, node: ast.AST) -> str:
        """Return a text that is equal for two nodes that differ in names, layout and comments only."""
        return ast.dump(_Plain(self).visit(copy.deepcopy(node)))


def _bound(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


class _Plain(ast.NodeTransformer):
    """Replaces the program's own names by their places, and constants by their values."""

    def __init__(self, program: Syntax) -> None:
        self.program = program
        self.places: dict[str, str] = {}

    def _place(self, name: str) -> str:
        return self.places.setdefault(name, f"name {len(self.places)}") if name in self.program.own else name

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if isinstance(node.ctx, ast.Load) and node.id in self.program.values:
            return ast.Constant(self.program.values[node.id])
        return ast.Name("model" if node.id == "model" else self._place(node.id), node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg(self._place(node.arg), None)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._without_words(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self._without_words(node)

    def _without_words(self, node: Any) -> ast.AST:
        if ast.get_docstring(node) is not None:
            del node.body[0]
        node.name = self._place(node.name)
        return self.generic_visit(node)
