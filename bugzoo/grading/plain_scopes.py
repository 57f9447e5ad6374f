"""Which of a program's own variables a name is where it stands, as Python's own scopes have it: stricter than by name alone."""

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def times_bound(tree: ast.AST) -> Counter[str]:
    """Return how often each name is bound, anywhere in a program and by whatever binds names."""
    return Counter(name for node in ast.walk(tree) for name in _binds(node))


def bound_below(tree: ast.Module) -> dict[str, int]:
    """Return name -> the line below which a statement of the module itself has bound it in any case.

    Below `open = 3` the name is a variable, and no longer Python's own function. A name that is removed again is left out.
    """
    removed = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del)}
    lines: dict[str, int] = {}
    for statement in tree.body:
        for name in _bound_by(statement) - removed:
            lines.setdefault(name, statement.end_lineno or statement.lineno)
    return lines


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
            if any(node.id in _stored(generator.target) for generator in scope.generators):
                return True
        child = scope
    return False


def _binds(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.alias):
        yield node.asname or node.name.partition(".")[0]
    elif isinstance(node, (*DEFINES, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest


def _bound_by(statement: ast.stmt) -> set[str]:
    if isinstance(statement, DEFINES):
        return {statement.name}
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    simple = isinstance(statement, ast.Assign) or (isinstance(statement, ast.AnnAssign) and statement.value is not None)
    return {name for target in targets if simple and target is not None for name in _stored(target)}


@lru_cache(maxsize=64)  # asked for each name in it
def _of_function(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Return the names that a function binds by arguments and assignments. What it imports is a module all the same."""
    inner = [part for statement in function.body for part in _within(statement)]
    declared = {name for part in inner if isinstance(part, ast.Global | ast.Nonlocal) for name in part.names}
    return (_arguments(function.args) | {name for part in inner for name in _stored(part, deep=False)}) - declared


def _within(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and what is below it, without scopes of their own."""
    if isinstance(node, (*DEFINES, ast.Lambda, *COMPREHENSIONS)):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _within(child)


def _arguments(given: ast.arguments) -> set[str]:
    return {node.arg for node in ast.walk(given) if isinstance(node, ast.arg)}


def _stored(node: ast.AST, deep: bool = True) -> set[str]:
    nodes = ast.walk(node) if deep else [node]
    return {part.id for part in nodes if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
