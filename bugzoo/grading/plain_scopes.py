"""Whether a name is a variable of a function where it stands, as Python's own scopes have it: stricter than by name alone."""

import ast
from collections.abc import Iterator, Mapping

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def local(node: ast.Name, parents: Mapping[ast.AST, ast.AST]) -> bool:
    """Return whether a function, a lambda or a comprehension around the name binds it. Defaults belong outside of these."""
    child: ast.AST = node
    while child in parents:
        scope = parents[child]
        if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
            if isinstance(child, ast.stmt) and node.id in _of_function(scope):
                return True
        elif isinstance(scope, ast.Lambda):
            if child is scope.body and node.id in _arguments(scope.args):
                return True
        elif isinstance(scope, COMPREHENSIONS) and not isinstance(child, ast.comprehension):
            if any(node.id in _stored(one.target) for one in scope.generators):
                return True
        child = scope
    return False


def _of_function(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Return the names that a function binds by arguments and assignments. What it imports is a module all the same."""
    inner = [one for statement in function.body for one in _within(statement)]
    given = {name for one in inner if isinstance(one, ast.Global | ast.Nonlocal) for name in one.names}
    return (_arguments(function.args) | {name for one in inner for name in _stored(one, deep=False)}) - given


def _within(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and what is below it, without scopes of their own."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, *COMPREHENSIONS)):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _within(child)


def _arguments(given: ast.arguments) -> set[str]:
    return {one.arg for one in ast.walk(given) if isinstance(one, ast.arg)}


def _stored(node: ast.AST, deep: bool = True) -> set[str]:
    nodes = ast.walk(node) if deep else [node]
    return {one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
