"""Plain repairs: which constructs a hand-in may use before a person has to look at it.

A hand-in is a program of ordinary PyTorch. What it needs for that is listed here, and all else (frames, files, the
interpreter's own modules, functions of torch exchanged) is *outside*. The check reads the syntax tree; nothing runs.
Statements of the text that was handed out are always inside.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bugzoo.grading.plain_names import MODULES, Imported, Imports
from bugzoo.grading.program_syntax import Syntax
from bugzoo.syntax import parse, source_lines

SPECIAL = frozenset(("__init__", "__call__", "__len__", "__getitem__", "__iter__", "__next__", "__name__"))
"""The only names with an underscore in front; `_` alone is a name for what is not used."""
CLOSED = frozenset((
    "open", "exec", "eval", "compile", "globals", "locals", "vars", "input", "breakpoint", "exit", "quit",
    "delattr", "memoryview", "sys", "gc", "os", "ctypes", "builtins",
))  # fmt: skip
"""Names that reach the interpreter, its files or another program."""
FRAMES = frozenset((
    "f_back", "f_globals", "f_locals", "f_builtins", "f_code", "gi_frame", "gi_code", "cr_frame", "ag_frame", "tb_frame",
    "tb_next", "with_traceback", "tofile", "dump", "load_library", "from_file",
))  # fmt: skip
"""Attributes that lead to frames or files, whatever they are read from."""


@dataclass(frozen=True)
class Outside:
    """One construct outside the plain ones: the line, from 1, its text, and why a person has to look."""

    line: int
    text: str
    why: str

    def __str__(self) -> str:
        return f"line {self.line}, `{self.text[:80]}`: {self.why}"


def outside(source: str, handed_out: str, also: Sequence[str] = ()) -> list[Outside]:
    """Return what a hand-in uses beyond plain PyTorch, by line.

    `handed_out`: the text that the learner got; its statements are inside. `also`: further modules that an instructor
    allows, such as `scipy`. Raises SyntaxError and ValueError for a text that is not Python.
    """
    return sorted(_Reader(source, handed_out, also).found(), key=lambda one: one.line)


class _Reader:
    def __init__(self, source: str, handed_out: str, also: Sequence[str]) -> None:
        self.lines, self.syntax = source_lines(source), Syntax(source)
        self.tree, self.parents = self.syntax.tree, self.syntax.parents
        self.inside = {ast.dump(one) for node in ast.walk(parse(handed_out)) for one in _units(node)}
        self.imports = Imports(self.tree, also)
        self.classes = {node.name for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef)}

    def found(self) -> Iterator[Outside]:
        lines = set()
        for node in ast.walk(self.tree):
            why = self.why(node)
            if why and not self.handed_out(node):
                line = getattr(node, "lineno", 1)
                if (line, why) not in lines:
                    lines.add((line, why))
                    yield Outside(line, self.lines[line - 1].strip(), why)

    def handed_out(self, node: ast.AST) -> bool:
        """Return whether the node stands in a statement, or the head of a block, that was handed out so."""
        while node not in (None, self.tree):
            if isinstance(node, ast.arg) or any(ast.dump(one) in self.inside for one in _units(node)):
                return True
            if isinstance(node, ast.stmt):
                return False
            node = self.parents[node]
        return False

    def why(self, node: ast.AST) -> str:
        """Return why a node is outside; empty for a plain one."""
        if isinstance(node, ast.Import | ast.ImportFrom):
            return self.imports.refused(node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return _underscore(node.name) or (self.own_class(node) if isinstance(node, ast.ClassDef) else "")
        if isinstance(node, ast.arg):
            return _underscore(node.arg)
        if isinstance(node, ast.keyword):
            return "a class made by another class" if node.arg == "metaclass" else _underscore(node.arg or "")
        if isinstance(node, ast.Name):
            return self.name(node)
        if isinstance(node, ast.Attribute):
            return self.attribute(node)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            return _IMPORTED if self.is_imported(node.value) else ""
        return ""

    def own_class(self, node: ast.ClassDef) -> str:
        return "a class made by another class" if any(one.arg == "metaclass" for one in node.keywords) else ""

    def name(self, node: ast.Name) -> str:
        called = self.call_of(node)
        if node.id in ("getattr", "setattr"):
            if not called or len(called.args) < 2 or not isinstance(called.args[1], ast.Constant):
                return f"`{node.id}` with a name that is computed"
            if node.id == "setattr" and self.fixed(called.args[0]):
                return _IMPORTED
            return _attribute_name(str(called.args[1].value))
        if node.id == "type" and called and len(called.args) > 1:
            return "a class made by `type`"
        if node.id in CLOSED and not self.imports.binds(node.id) and isinstance(node.ctx, ast.Load):
            return f"`{node.id}` reaches beyond the program"
        if self.syntax.variable(node)[0] is not self.tree:
            return _underscore(node.id)  # a variable of a function, such as `batch, time = inputs.shape`
        return _underscore(node.id) or self.imports.as_value(node, self.parents[node])

    def call_of(self, node: ast.AST) -> ast.Call | None:
        parent = self.parents[node]
        return parent if isinstance(parent, ast.Call) and parent.func is node else None

    def attribute(self, node: ast.Attribute) -> str:
        if isinstance(node.ctx, ast.Store | ast.Del) and self.fixed(node.value):
            return _IMPORTED
        return _attribute_name(node.attr) or self.imports.as_value(node, self.parents[node])

    def fixed(self, node: ast.AST) -> bool:
        """Return whether a node is a class, or belongs to an imported module: its attributes stay as they are."""
        if isinstance(node, ast.Name) and node.id in self.classes:
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("type", "super"):
            return True
        return self.is_imported(node)

    def is_imported(self, node: ast.AST) -> bool:
        found = self.imports.resolve(node)
        return isinstance(found, Imported) and not found.path.startswith("torch.backends")


_IMPORTED = "it changes an imported module or a class for the whole program"


def _underscore(name: str) -> str:
    plain = not name.startswith("_") or name in SPECIAL or not name.strip("_")
    return "" if plain else f"`{name}` begins with an underscore"


def _attribute_name(name: str) -> str:
    return f"`{name}` leads to frames or files" if name in FRAMES else _underscore(name)


def _units(node: ast.AST) -> list[ast.AST]:
    """Return what of a node can be handed out as it is: a statement without a body, or a part of a block's head."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [ast.Name(node.name, ast.Load()), *node.decorator_list]
    if isinstance(node, ast.stmt) and not hasattr(node, "body"):
        return [node]
    if isinstance(node, ast.For | ast.While | ast.If | ast.With):
        return [one for name, one in ast.iter_fields(node) if isinstance(one, ast.expr)] + getattr(node, "items", [])
    return []


__all__ = ["CLOSED", "FRAMES", "MODULES", "SPECIAL", "Outside", "outside"]
