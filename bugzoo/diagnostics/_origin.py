"""The line that makes an argument of a call: where a value that a contract complains of comes from.

    return {"mask": mask * 255}       # this line, in the dataset's `__getitem__`
    ...
    for batch in loader:
        loss = F.binary_cross_entropy(out, batch["mask"])

Followed are names, through methods that keep the numbers, into functions of the script and into what its one dataset returns.
Where that ends without a statement of its own, it is the call's own line.
"""

import ast
from collections.abc import Iterator

from bugzoo.diagnostics._flow import DEEPEST, Flow, scope_of
from bugzoo.syntax import parse


def origin(source: str, line: int, place: int, keyword: str) -> int:
    """Return the line that makes the argument at `place` (from 0), or called `keyword`, of a call in `line`.

    Return `line` itself where the argument is an expression of its own, a parameter of the function, or not found.
    """
    try:
        tree = parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return line
    for call in _calls(tree, line):
        node = next((argument.value for argument in call.keywords if argument.arg == keyword), None)
        if (
            node is None
            and len(call.args) > place >= 0
            and not any(isinstance(argument, ast.Starred) for argument in call.args)
        ):
            node = call.args[place]
        if node is not None:
            return Flow(tree).made(node, call.lineno, (), DEEPEST) or line
    return line


def lost(source: str, line: int) -> int:
    """Return the line that throws away what a call in `line` returned and a list kept, or `line` itself.

    `self.handles.append(layer.register_forward_hook(hook))` is undone by `self.handles = []` in another method.
    """
    try:
        tree = parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return line
    names = {
        ast.unparse(call.func.value)
        for call in _calls(tree, line)
        if isinstance(call.func, ast.Attribute) and call.func.attr == "append"
    }
    thrown = []
    for node in ast.walk(tree):
        scope = scope_of(tree, getattr(node, "lineno", 0))
        if isinstance(node, ast.Assign) and getattr(scope, "name", "") not in ("", "__init__"):
            empty = isinstance(node.value, ast.List) and not node.value.elts
            thrown += [node.lineno] if empty and ast.unparse(node.targets[0]) in names else []
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "clear":
            thrown += [node.lineno] if ast.unparse(node.func.value) in names else []
    return min(thrown, default=line)


def _calls(tree: ast.AST, line: int) -> Iterator[ast.Call]:
    """Yield the calls that begin in a line or hold it, the outermost first."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.lineno <= line <= (node.end_lineno or node.lineno):
            yield node
