"""Plain repairs: which constructs a hand-in may use before a person has to look at it.

A hand-in is a program of ordinary PyTorch. What it needs for that is listed (plain_modules.toml, `plain_builtins`), and all else
(frames, files, the interpreter's own modules, functions of torch exchanged) is *outside*. The check reads the syntax tree;
nothing runs. Statements of the text that was handed out are always inside.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import shorten

from bugzoo.grading.plain_annotations import Unread, with_annotations
from bugzoo.grading.plain_attributes import METHODS, attribute, own_attributes, underscore
from bugzoo.grading.plain_builtins import builtin
from bugzoo.grading.plain_names import CALLED, Imports, Reason, constant_name, refused, within
from bugzoo.grading.plain_scopes import DEFINES, bound_below, local, times_bound
from bugzoo.syntax import last_name, parse, source_lines

BY_NAME = ("getattr", "hasattr", "setattr")
IN_PARTS = "a function that other code runs in parts"
KINDS = {ast.AsyncFunctionDef: ("async", IN_PARTS), ast.Await: ("await", IN_PARTS)}
FOR_ALL = "it changes an imported module or a class for the whole program"


@dataclass(frozen=True)
class Outside:
    """One construct outside the plain ones: the line, from 1, its text, why a person looks, and the name to allow."""

    line: int
    text: str
    why: str
    name: str

    def __str__(self) -> str:
        return f"line {self.line}, `{shorten(self.text, 80, placeholder=' ...')}`: {self.why}"


def outside(source: str, handed_out: str, also: Sequence[str] = ()) -> list[Outside]:
    """Return what a hand-in uses beyond plain PyTorch, by line.

    `handed_out`: the text that the learner got; its statements are inside. `also`: names that an instructor allows
    besides, such as `json` or `_cache`. Raises SyntaxError and ValueError for a text that is not Python.
    """
    return sorted(_Reader(source, handed_out, also).found(), key=lambda one: one.line)


class _Reader:
    def __init__(self, source: str, handed_out: str, also: Sequence[str]) -> None:
        self.lines, self.tree = source_lines(source), with_annotations(parse(source))
        self.parents = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}
        self.also = (*also, *functions(handed_out))
        nodes = list(ast.walk(with_annotations(parse(handed_out))))
        self.inside = {ast.dump(unit) for node in nodes for unit in _units(node)}
        self.given_names = {node.name for node in nodes if isinstance(node, DEFINES)}
        self.times = times_bound(self.tree)
        self.variables = bound_below(self.tree)
        self.imports = Imports(self.tree, self.times)
        self.classes = {node.name: node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef)}
        self.own = own_attributes(self.tree) | set(self.times)

    def found(self) -> Iterator[Outside]:
        places: set[tuple[int, str]] = set()
        for node in ast.walk(self.tree):
            for name, why in self.reasons(node):
                line = getattr(node, "lineno", 1)
                if not within(name, self.also) and (line, name) not in places and not self.handed_out(node):
                    places.add((line, name))
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
        if type(node) in KINDS:
            return [KINDS[type(node)]]
        if isinstance(node, ast.Import | ast.ImportFrom):
            return self.imports.of_import(node)
        if isinstance(node, Unread):
            return [(str(node.value), f"the annotation {node.value!r} cannot be read as code")]
        if isinstance(node, DEFINES):
            return self.defined(node)
        if isinstance(node, ast.arg | ast.alias | ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
            return underscore(_bound_name(node), self.own)
        if isinstance(node, ast.keyword):
            if node.arg == "metaclass":
                return [("metaclass", "a class made by another class")]
            return underscore(node.arg or "", self.own)
        if isinstance(node, ast.Name):
            return self.name(node)
        if isinstance(node, ast.Attribute):
            return self.attribute(node)
        if isinstance(node, ast.MatchClass):
            return [reason for name in node.kwd_attrs for reason in attribute(name, self.own)]
        if isinstance(node, ast.Subscript) and _changed(node) and self.imported(node.value):
            return [(self.imports.path(node.value), FOR_ALL)]
        return []

    def defined(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[Reason]:
        method = isinstance(self.parents[node], ast.ClassDef)
        return [] if method and node.name in METHODS else underscore(node.name, self.own)

    def name(self, node: ast.Name) -> list[Reason]:
        parent = self.parents[node]
        call = parent if isinstance(parent, ast.Call) and parent.func is node else None
        if isinstance(node.ctx, ast.Store) or local(node, self.parents):  # such as `batch, time = inputs.shape`
            return underscore(node.id, self.own)
        if node.id in self.imports.bound:
            return underscore(node.id, self.own) or self.imports.of_chain(node, self.parents)
        if node.lineno > self.variables.get(node.id, node.lineno):
            return underscore(node.id, self.own)
        if node.id in BY_NAME:
            return self.by_name(node.id, call)
        if node.id == "type" and call and len(call.args) > 1:
            return [("type", "a class made by `type`")]
        return underscore(node.id, self.own) or builtin(node.id)

    def by_name(self, function: str, call: ast.Call | None) -> list[Reason]:
        """Judge `getattr(x, "name")` and `setattr(x, "name", value)` as the attribute that they name."""
        name = constant_name(call) if call else ""
        if call and name:
            fixed = function == "setattr" and self.fixed(call.args[0], name)
            whole = [(f"{ast.unparse(call.args[0])}.{name}", FOR_ALL)]
            return whole if fixed else attribute(name, self.own)
        if call and call.args and (function == "hasattr" or self.plain_object(call.args[0])):
            return []
        return [(function, f"`{function}` with a name that is computed")]

    def plain_object(self, node: ast.AST) -> bool:
        """Return whether a node makes an object of a class of the program's own without bases: it has nothing to change."""
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and self.times[node.func.id] == 1):
            return False
        definition = self.classes.get(node.func.id)
        return definition is not None and not definition.bases and not definition.decorator_list

    def attribute(self, node: ast.Attribute) -> list[Reason]:
        if _changed(node) and self.fixed(node.value, node.attr):
            return [(self.imports.path(node) or ast.unparse(node), FOR_ALL)]
        if self.imports.read_as_chain(node):  # as one, from its first name
            return []
        of_super = isinstance(node.value, ast.Call) and last_name(node.value.func) == "super"
        inherited = node.attr == "forward" and (of_super or _changed(node))
        named = node.attr == "__class__" and getattr(self.parents[node], "attr", "") == "__name__"
        return [] if inherited or named else attribute(node.attr, self.own)

    def fixed(self, node: ast.AST, name: str) -> bool:
        """Return whether an attribute stays as it is: of an imported module or class, or what a class of one's own does."""
        if isinstance(node, ast.Name) and node.id in self.classes:
            methods = {part.name for part in self.classes[node.id].body if isinstance(part, ast.FunctionDef)}
            return name in methods or name == "forward" or name.startswith("_")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("type", "super"):
            return True
        return self.imported(node)

    def imported(self, node: ast.AST) -> bool:
        path = self.imports.path(node)
        variable = isinstance(node, ast.Name) and local(node, self.parents)
        return bool(path) and not variable and not path.startswith("torch.backends")


def functions(handed_out: str) -> set[str]:
    """Return the functions of modules that the text handed out calls itself, such as `torch.load`: a repair may, too."""
    tree = parse(handed_out)
    imports = Imports(tree, times_bound(tree))
    paths = {imports.path(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)} - {""}
    return {path for path in paths if refused(path) or path in CALLED}


def _bound_name(node: ast.arg | ast.alias | ast.ExceptHandler | ast.MatchAs | ast.MatchStar) -> str:
    name = node.arg if isinstance(node, ast.arg) else node.asname if isinstance(node, ast.alias) else node.name
    return name or ""


def _changed(node: ast.Attribute | ast.Subscript) -> bool:
    return isinstance(node.ctx, ast.Store | ast.Del)


def _units(node: ast.AST) -> list[ast.AST]:
    """Return what of a node can be handed out as it is: a statement without a body, or a part of a block's head."""
    if isinstance(node, ast.stmt) and hasattr(node, "body"):  # its body has statements of its own
        return [part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.stmt)]
    return [node] if isinstance(node, ast.stmt | ast.arg) else []
