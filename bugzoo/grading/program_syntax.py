"""A program's syntax tree as grading reads it: which names it binds, how they are used, and statements without names."""

import ast
import copy
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from bugzoo.syntax import last_name, parse

ARGUMENT = "an argument"
"""The use of a name that is handed on in a call."""
Variable = tuple[ast.AST, str]
"""The function (or the module) that binds a name, and the name."""


class Syntax:
    """A program's tree with the names that it binds, and the parent of each node."""

    def __init__(self, source: str) -> None:
        self.tree: ast.Module = parse(source)
        self.parents = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}
        stored = [node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name) and _bound(node)]
        arguments = [node.arg for node in ast.walk(self.tree) if isinstance(node, ast.arg)]
        defined = [node.name for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef | ast.FunctionDef)]
        self.own, self.objects = {*stored, *arguments, *defined}, {*stored, *arguments} - {*defined}
        times = Counter([*stored, *arguments, *defined])
        self.values = {name: value for name, value in self._constants() if times[name] == 1}
        self.local: dict[ast.AST, set[str]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.arg) or (isinstance(node, ast.Name) and _bound(node)):
                name = node.arg if isinstance(node, ast.arg) else node.id
                self.local.setdefault(self.function(node), set()).add(name)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Global | ast.Nonlocal):
                self.local.get(self.function(node), set()).difference_update(node.names)

    def _constants(self) -> Iterator[tuple[str, Any]]:
        for node in self.tree.body:
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                try:
                    yield node.targets[0].id, ast.literal_eval(node.value)
                except (ValueError, TypeError):
                    continue

    def calling(self, method: str) -> set[str]:
        """Return the names `x` of calls `x.method(...)`."""
        functions = [node.func for node in ast.walk(self.tree) if isinstance(node, ast.Call)]
        owners = [name.value for name in functions if isinstance(name, ast.Attribute) and name.attr == method]
        return {owner.id for owner in owners if isinstance(owner, ast.Name)}

    def variable(self, node: ast.Name) -> Variable:
        """Return which variable a name is. Names of comprehensions and lambdas belong to the function around them."""
        place = self.function(node)
        while place is not self.tree and node.id not in self.local.get(place, ()):
            place = self.function(place)
        return place, node.id

    def given(self, functions: Sequence[str]) -> set[Variable]:
        """Return the variables in the first argument of calls of these functions, and what callers hand on for them."""
        calls = [node for node in ast.walk(self.tree) if isinstance(node, ast.Call)]
        variables: set[Variable] = set()
        new = {origin for call in calls if last_name(call.func) in functions for origin in self._in(call.args[:1])}
        while new:
            variables |= new
            new = {origin for variable in new for origin in self._handed(variable, calls)} - variables
        return variables

    def _handed(self, variable: Variable, calls: list[ast.Call]) -> set[Variable]:
        """Return the variables that callers hand on for a parameter. A method may be called through any of the program's
        objects, `block(x, mask)` and `self.attention(x, mask)`, so each such call with as many arguments counts.
        """
        function, name = variable
        if not isinstance(function, ast.FunctionDef):
            return set()
        parameters = [argument.arg for argument in function.args.args]
        method = isinstance(self.parents[function], ast.ClassDef)
        parameters = parameters[1:] if method else parameters
        if name not in parameters:
            return set()
        variables: set[Variable] = set()
        for call in calls:
            owner = getattr(call.func, "value", call.func)
            through = last_name(owner) in self.objects and (owner is call.func or last_name(owner) == "self")
            if not (through if method else last_name(call.func) == function.name):
                continue
            variables |= self._in([argument.value for argument in call.keywords if argument.arg == name])
            if len(call.args) == len(parameters):
                variables |= self._in([call.args[parameters.index(name)]])
        return variables

    def _in(self, nodes: Sequence[ast.AST]) -> set[Variable]:
        return {self.variable(part) for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)}

    def made_by(self, functions: Sequence[str]) -> set[Variable]:
        """Return the variables that are bound to what these functions or methods return."""
        calls = [(name, value.func) for name, value in self.bindings() if isinstance(value, ast.Call)]
        return {self.variable(name) for name, function in calls if last_name(function) in functions}

    def kept_for(self, variables: set[Variable]) -> set[str]:
        """Return the attributes of `self` that these variables are bound from: `mask` for `hidden = self.mask[:time]`."""
        values = [value for name, value in self.bindings() if self.variable(name) in variables]
        reads = [node for value in values for node in ast.walk(value) if isinstance(node, ast.Attribute)]
        return {node.attr for node in reads if last_name(node.value) == "self" and self.use(node) != "()"}

    def bindings(self) -> Iterator[tuple[ast.Name, ast.expr]]:
        """Yield (name, value) of each assignment to one name."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                yield node.targets[0], node.value

    def function(self, node: ast.AST) -> ast.AST:
        """Return the innermost function around a node, else the module."""
        while node is not self.tree:
            node = self.parents[node]
            if isinstance(node, ast.FunctionDef):
                return node
        return node

    def use(self, node: ast.AST) -> str:
        """Return how a name is used: "()" for a call, ARGUMENT, the attribute that is read, else ""."""
        parent = self.parents[node]
        if isinstance(parent, ast.keyword) or (isinstance(parent, ast.Call) and parent.func is not node):
            return ARGUMENT
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
