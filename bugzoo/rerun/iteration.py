"""Compile one iteration of a watched training loop from its source, with its own line numbers."""

import ast
import copy
from collections.abc import Callable
from types import CodeType
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from bugzoo.syntax import parse
from bugzoo.watching.history import Snapshot
from bugzoo.watching.loop import Loop, is_fetch, last_line, stored_names
from bugzoo.watching.state import copied


def _body(loop: Loop, line: int | None, names: dict[str, Any] | None, converting: bool = False) -> CodeType:
    """Return the loop's body as code, from the statement at `line` on. With `names`, inside a function with those names.

    `converting`: include the statements that convert a batch before the model gets it.
    """
    skipped = set() if converting else set(loop.fetched if line is not None else loop.names)

    class Skip(ast.NodeTransformer):
        """Leave out statements that fetch or convert the batch, because the batch is given."""

        def visit_Assign(self, node: ast.Assign) -> ast.AST:
            if is_fetch(node) or (line is None and stored_names(node) & skipped):
                return ast.copy_location(ast.Pass(), node)
            return node

        def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
            return node

        def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.AST:
            return ast.copy_location(ast.Pass(), node)

    body = loop.node.body
    if line is not None:
        body = [part for part in body if last_line(part) >= line]
    body = [Skip().visit(copy.deepcopy(part)) for part in body]
    once: Any = parse("for __bugzoo in (None,):\n    pass").body[0]
    once.body = body
    tree: ast.Module = ast.Module([once], type_ignores=[])
    if names is not None:
        declared = {name for n in ast.walk(once) if isinstance(n, ast.Global) for name in n.names}
        arguments = [name for name in names if name.isidentifier() and name not in declared | {"__class__"}]
        outer: Any = parse(f"def __bugzoo_body({', '.join(arguments)}):\n    return locals()").body[0]
        outer.body.insert(0, once)
        tree = ast.Module([outer], type_ignores=[])
    return compile(ast.fix_missing_locations(tree), loop.file, "exec")


def prepared(
    snapshot: Snapshot, names: dict[str, Any], line: int | None, converting: bool = False
) -> Callable[[dict[str, Any]], None]:
    """Return a function that runs one iteration and updates its dict of names as the loop would. It starts from `names`."""
    if snapshot.top_level:
        code = _body(snapshot.loop, line, None, converting)
        return lambda names: exec(code, names)
    space: dict[str, Any] = {}
    exec(_body(snapshot.loop, line, names, converting), snapshot.frame_globals, space)
    function = space["__bugzoo_body"]
    parameters = function.__code__.co_varnames[: function.__code__.co_argcount]

    def run(names: dict[str, Any]) -> None:
        after = function(*(names[name] for name in parameters))
        if isinstance(after, dict) and "__bugzoo" in after:
            names.update(after)

    return run


def given(args: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
    """Return copies of a forward's arguments, None if one of them requires a gradient."""
    if args is None or any(isinstance(leaf, torch.Tensor) and leaf.requires_grad for leaf in tree_leaves(args)):
        return None
    return copied(args)
