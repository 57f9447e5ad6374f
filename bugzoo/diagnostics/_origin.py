"""The line that makes an argument of a call: where a value that a contract complains of comes from.

    probs = scores.softmax(-1)        # this line
    return F.kl_div(probs, target)    # for the argument `input` of this call

Only a name that the same function assigns before is followed, and only one step. Otherwise it is the call's own line.
"""

import ast
from collections.abc import Iterator

from bugzoo.syntax import parse

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)


def origin(source: str, line: int, place: int, keyword: str) -> int:
    """Return the line of the latest assignment to the argument at `place` (from 0), or called `keyword`, of a call in `line`.

    Return `line` itself where the argument is an expression, a parameter of the function, or not found.
    """
    try:
        tree = parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return line
    for call in _calls(tree, line):
        given = next((one.value for one in call.keywords if one.arg == keyword), None)
        if given is None and len(call.args) > place >= 0 and not any(isinstance(one, ast.Starred) for one in call.args):
            given = call.args[place]
        if isinstance(given, ast.Name):
            made = [at for at in _assigned(_scope(tree, call), given.id) if at < call.lineno]
            return max(made, default=line)
    return line


def _calls(tree: ast.AST, line: int) -> Iterator[ast.Call]:
    """Yield the calls that begin in a line or hold it, the innermost last."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.lineno <= line <= (node.end_lineno or node.lineno):
            yield node


def _scope(tree: ast.AST, call: ast.Call) -> ast.AST:
    """Return the innermost function around a call, or the module."""
    around = [node for node in ast.walk(tree) if isinstance(node, _SCOPES) and _holds(node, call)]
    return max(around, key=lambda node: getattr(node, "lineno", 0), default=tree)


def _holds(scope: ast.AST, call: ast.Call) -> bool:
    return isinstance(scope, ast.Module) or scope.lineno <= call.lineno <= (scope.end_lineno or 0)  # pyright: ignore


def _assigned(scope: ast.AST, name: str) -> Iterator[int]:
    """Yield the lines of assignments to a name in a scope, without those of functions within it."""
    stack = list(getattr(scope, "body", []))
    while stack:
        node = stack.pop()
        if isinstance(node, (*_SCOPES, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(one, ast.Name) and one.id == name for target in targets for one in ast.walk(target)):
                yield node.lineno
        stack.extend(ast.iter_child_nodes(node))
