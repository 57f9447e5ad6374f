"""Plain repairs: which constructs a hand-in may use before a person has to look at it.

A hand-in is a program of ordinary PyTorch. What it needs for that is listed here, and all else (frames, files, the
interpreter's own modules, functions of torch exchanged) is *outside*. The check reads the syntax tree; nothing runs.
Statements of the text that was handed out are always inside.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bugzoo.grading.plain_names import Imports, Reason, within
from bugzoo.grading.plain_scopes import local
from bugzoo.grading.program_syntax import Syntax
from bugzoo.syntax import parse, source_lines

SPECIAL = frozenset((
    "__init__", "__call__", "__len__", "__getitem__", "__iter__", "__next__", "__name__", "__enter__", "__exit__",
))  # fmt: skip
"""The only names that may begin with an underscore; `_` alone is a name for what is not used."""
CLOSED = frozenset((
    "open", "exec", "eval", "compile", "globals", "locals", "vars", "input", "breakpoint", "exit", "quit",
    "delattr", "memoryview", "sys", "gc", "os", "ctypes", "builtins",
))  # fmt: skip
"""Names that reach the interpreter, its files or another program."""
LEADS_OUT = frozenset((
    "f_back", "f_globals", "f_locals", "f_builtins", "f_code", "gi_frame", "gi_code", "cr_frame", "ag_frame", "tb_frame",
    "tb_next", "with_traceback", "tofile", "dump", "load_library", "from_file",
))  # fmt: skip
"""Attributes that lead to frames or files, whatever they are read from."""
DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
FOR_ALL = "it changes an imported module or a class for the whole program"


@dataclass(frozen=True)
class Outside:
    """One construct outside the plain ones: the line, from 1, its text, why a person looks, and the name to allow."""

    line: int
    text: str
    why: str
    name: str

    def __str__(self) -> str:
        return f"line {self.line}, `{self.text[:80]}`: {self.why}"


def outside(source: str, handed_out: str, also: Sequence[str] = ()) -> list[Outside]:
    """Return what a hand-in uses beyond plain PyTorch, by line.

    `handed_out`: the text that the learner got; its statements are inside. `also`: names that an instructor allows
    besides, such as `json` or `_cache`. Raises SyntaxError and ValueError for a text that is not Python.
    """
    return sorted(_Reader(source, handed_out, also).found(), key=lambda one: one.line)


class _Reader:
    def __init__(self, source: str, handed_out: str, also: Sequence[str]) -> None:
        syntax = Syntax(source)
        self.lines, self.tree, self.parents = source_lines(source), syntax.tree, syntax.parents
        self.also = (*also, *functions(handed_out))
        given = list(ast.walk(parse(handed_out)))
        self.inside = {ast.dump(one) for node in given for one in _units(node)}
        self.given_names = {node.name for node in given if isinstance(node, DEFINES)}
        self.imports = Imports(self.tree)
        self.classes = {node.name for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef)}

    def found(self) -> Iterator[Outside]:
        seen: set[tuple[int, str]] = set()
        for node in ast.walk(self.tree):
            for name, why in self.reasons(node):
                line = getattr(node, "lineno", 1)
                if not within(name, self.also) and (line, name) not in seen and not self.handed_out(node):
                    seen.add((line, name))
                    yield Outside(line, self.lines[line - 1].strip(), why, name)

    def handed_out(self, node: ast.AST) -> bool:
        """Return whether the node stands in a statement, or in the head of a block, that was handed out so."""
        if isinstance(node, DEFINES):
            return node.name in self.given_names
        part = node  # what of the innermost statement holds the node: of a block one part of its head, not all of it
        while not isinstance(node, ast.stmt):
            part, node = node, self.parents[node]
            if isinstance(part, ast.arg) and ast.dump(part) in self.inside:
                return True
        return ast.dump(node if part is node or node in _units(node) else part) in self.inside

    def reasons(self, node: ast.AST) -> list[Reason]:
        """Return what is outside about a node itself."""
        if isinstance(node, ast.Import | ast.ImportFrom):
            return self.imports.refused(node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return _underscore(node.name)
        if isinstance(node, ast.Match):
            return [("match", "what follows from a `match` cannot be tried for other numbers")]
        if isinstance(node, ast.arg | ast.keyword):
            made = node.arg == "metaclass" and isinstance(node, ast.keyword)
            return [("metaclass", "a class made by another class")] if made else _underscore(node.arg or "")
        if isinstance(node, ast.Name):
            return self.name(node)
        if isinstance(node, ast.Attribute):
            return self.attribute(node)
        if isinstance(node, ast.Subscript) and _changed(node) and self.imported(node.value):
            return [(self.imports.path(node.value), FOR_ALL)]
        return []

    def name(self, node: ast.Name) -> list[Reason]:
        parent = self.parents[node]
        call = parent if isinstance(parent, ast.Call) and parent.func is node else None
        if node.id in ("getattr", "setattr"):
            return self.by_text(node.id, call)
        if node.id == "type" and call and len(call.args) > 1:
            return [("type", "a class made by `type`")]
        if node.id in CLOSED and node.id not in self.imports.bound and isinstance(node.ctx, ast.Load):
            return [(node.id, f"`{node.id}` reaches beyond the program")]
        if local(node, self.parents):  # a variable of a function: `batch, time = inputs.shape`
            return _underscore(node.id)
        return _underscore(node.id) or self.imports.as_value(node, parent)

    def by_text(self, function: str, call: ast.Call | None) -> list[Reason]:
        """Judge `getattr(x, "name")` and `setattr(x, "name", value)` as the attribute that they name."""
        if not call or len(call.args) < 2 or not isinstance(call.args[1], ast.Constant):
            return [(function, f"`{function}` with a name that is computed")]
        name = str(call.args[1].value)
        if function == "setattr" and self.fixed(call.args[0]):
            return [(f"{ast.unparse(call.args[0])}.{name}", FOR_ALL)]
        return _attribute(name)

    def attribute(self, node: ast.Attribute) -> list[Reason]:
        if _changed(node) and self.fixed(node.value):
            return [(self.imports.path(node) or ast.unparse(node), FOR_ALL)]
        return _attribute(node.attr) or self.imports.as_value(node, self.parents[node])

    def fixed(self, node: ast.AST) -> bool:
        """Return whether a node is a class, or belongs to an imported module: its attributes stay as they are."""
        if isinstance(node, ast.Name) and node.id in self.classes:
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("type", "super"):
            return True
        return self.imported(node)

    def imported(self, node: ast.AST) -> bool:
        path = self.imports.path(node)
        return bool(path) and not path.startswith("torch.backends")


def functions(handed_out: str) -> set[str]:
    """Return the functions of modules that the text handed out calls itself, such as `torch.save`: a repair may, too."""
    tree = parse(handed_out)
    imports = Imports(tree)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    chains = [node.func for node in calls if isinstance(node.func, ast.Name | ast.Attribute)]
    return {name for node in chains for name, _ in imports.as_value(node, tree)}


def _changed(node: ast.Attribute | ast.Subscript) -> bool:
    return isinstance(node.ctx, ast.Store | ast.Del)


def _underscore(name: str) -> list[Reason]:
    plain = not name.startswith("_") or name in SPECIAL or not name.strip("_")
    return [] if plain else [(name, f"`{name}` begins with an underscore")]


def _attribute(name: str) -> list[Reason]:
    return [(name, f"`{name}` leads to frames or files")] if name in LEADS_OUT else _underscore(name)


def _units(node: ast.AST) -> list[ast.AST]:
    """Return what of a node can be handed out as it is: a statement without a body, or a part of a block's head."""
    if isinstance(node, ast.stmt) and hasattr(node, "body"):  # its body has statements of its own
        return [one for one in ast.iter_child_nodes(node) if not isinstance(one, ast.stmt)]
    return [node] if isinstance(node, ast.stmt | ast.arg) else []
