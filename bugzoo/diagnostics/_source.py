"""A script's text as a syntax tree that can say where the loss, the step and the loop are."""

import ast
from collections.abc import Iterator
from typing import Any

from bugzoo.syntax import last_name, parse

_SHARED = ast.expr_context | ast.operator | ast.unaryop | ast.boolop | ast.cmpop
"""Python has one node of each for all trees. With a parent it would keep a tree, and each later deep copy would hold it."""


class Source:
    """A parsed script that answers the questions of `places`."""

    def __init__(self, text: str) -> None:
        self.tree = parse(text)
        for node in ast.walk(self.tree):
            for child in ast.iter_child_nodes(node):
                if not isinstance(child, _SHARED):
                    child.parent = node  # type: ignore[attr-defined]

    def calls(self, *names: str, within: ast.AST | None = None) -> list[ast.Call]:
        """Calls of functions or methods with one of these last names, in order of lines."""
        nodes = (n for n in ast.walk(within or self.tree) if isinstance(n, ast.Call) and last_name(n.func) in names)
        return sorted(nodes, key=lambda n: n.lineno)

    def statements(self, *kinds: type) -> Iterator[Any]:
        return (n for n in ast.walk(self.tree) if isinstance(n, kinds))

    def backward(self) -> ast.Call | None:
        """The backward() call; of several, the first inside a loop."""
        calls = [n for n in self.calls("backward") if isinstance(n.func, ast.Attribute)]
        return max(calls, key=lambda n: (bool(loops(n)), -n.lineno), default=None)

    def step(self) -> ast.Call | None:
        """The optimizer's step(): the first after backward() in the same function, without schedulers."""
        backward = self.backward()
        calls = [
            n for n in self.calls("step") if isinstance(n.func, ast.Attribute) and "sched" not in name_of(n.func.value)
        ]
        if backward is None:
            return calls[0] if calls else None
        home = function(backward)
        near = [n for n in calls if function(n) is home and n.lineno >= backward.lineno]
        return (near or [n for n in calls if n.lineno >= backward.lineno] or calls or [None])[0]

    def loss(self, backward: ast.Call | None = None) -> ast.AST | None:
        """The statement that computes the tensor on which backward() is called."""
        backward = backward or self.backward()
        if backward is None:
            return None
        value = backward.func.value  # type: ignore[attr-defined]
        while isinstance(value, ast.Call) and value.args:  # scaler.scale(loss).backward()
            value = value.args[0]
        while isinstance(value, ast.BinOp):  # (loss / 4).backward()
            value = value.left
        name = name_of(value)
        before = [n for n in self.statements(ast.Assign) if any(name_of(t) == name for t in targets(n))]
        before = [n for n in before if n.lineno <= backward.lineno and function(n) is function(backward)]
        real = [n for n in before if not about_itself(n, name)]
        return max(real or before, key=lambda n: n.lineno, default=None)


def name_of(node: ast.AST) -> str:
    """Dotted text of a name or attribute; "" for anything else."""
    if isinstance(node, ast.Attribute):
        return f"{name_of(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def targets(node: ast.Assign) -> list[ast.AST]:
    return [part for t in node.targets for part in (t.elts if isinstance(t, ast.Tuple) else [t])]


def about_itself(node: ast.Assign, name: str) -> bool:
    """`loss = loss / 4` computes nothing new."""
    return any(name_of(n) == name for n in ast.walk(node.value))


def above(node: ast.AST) -> Iterator[ast.AST]:
    parent = getattr(node, "parent", None)
    while parent is not None:
        yield parent
        parent = getattr(parent, "parent", None)


def function(node: ast.AST) -> ast.AST | None:
    return next((n for n in above(node) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)), None)


def loops(node: ast.AST) -> list[ast.AST]:
    return [n for n in above(node) if isinstance(n, ast.For | ast.While)]
