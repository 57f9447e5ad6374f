"""Where a script makes a value: its text read backwards, from a use to assignments, returns and items of a dataset."""

import ast
from collections.abc import Iterator
from typing import Any

from bugzoo.syntax import last_name

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)
_KEEP = {
    "to", "cuda", "cpu", "float", "long", "int", "double", "half", "detach", "clone", "contiguous", "view", "reshape",
    "flatten", "squeeze", "unsqueeze", "transpose", "permute", "numpy", "view_as",
}  # fmt: skip
"""Methods of a tensor that leave its numbers as they are."""
_LOOPS = {"enumerate", "tqdm", "trange", "iter"}
DEEPEST = 8


class Flow:
    """Follows values through one script."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.functions: dict[str, list[Any]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self.functions.setdefault(node.name, []).append(node)

    def made(self, node: ast.AST, line: int, path: tuple[Any, ...], deeper: int) -> int | None:
        """Return where a value that is used in `line` is made, None if nothing before it is known.

        `path`: places and keys of the part that matters, () for all of it.
        """
        if deeper == 0:
            return None
        if isinstance(node, ast.Call):
            name = last_name(node.func)
            if isinstance(node.func, ast.Attribute) and name in _KEEP:
                return self.made(node.func.value, line, path, deeper - 1)
            return self._returned(name, path, deeper - 1)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            return self.made(node.value, line, (node.slice.value, *path), deeper - 1)
        if not isinstance(node, ast.Name):
            return None
        return self._assigned(node.id, line, path, deeper - 1)

    def _assigned(self, name: str, line: int, path: tuple[Any, ...], deeper: int) -> int | None:
        scope = scope_of(self.tree, line)
        bindings = [node for node in _bindings(scope) if node.lineno < line and _part(_target(node), name) is not None]
        last = max(bindings, key=lambda one: one.lineno, default=None)
        if last is None:
            return None
        path = ((_part(_target(last), name)) or ()) + path
        if isinstance(last, ast.For):
            return self._item(last.iter, path, deeper)
        value = last.value
        if value is None:  # a declaration
            return last.lineno
        value, path = _within(value, path)
        return self.made(value, last.lineno, path, deeper) or last.lineno

    def _item(self, over: ast.AST, path: tuple[Any, ...], deeper: int) -> int | None:
        """Return where the script's one dataset makes an item, if a loop runs over its loader."""
        while isinstance(over, ast.Call) and last_name(over.func) in _LOOPS and over.args:
            path = path[1:] if last_name(over.func) == "enumerate" else path
            over = over.args[0]
        collated = any(isinstance(node, ast.keyword) and node.arg == "collate_fn" for node in ast.walk(self.tree))
        if collated or not isinstance(over, ast.Name | ast.Attribute):
            return None
        return self._returned("__getitem__", path, deeper)

    def _returned(self, name: str, path: tuple[Any, ...], deeper: int) -> int | None:
        """Return where the only function of this name makes what it returns."""
        some = self.functions.get(name, [])
        ends = (
            [node for node in ast.walk(some[0]) if isinstance(node, ast.Return) and node.value]
            if len(some) == 1
            else []
        )
        if not ends:
            return None
        value, path = _within(max(ends, key=lambda one: one.lineno).value, path)  # pyright: ignore[reportArgumentType]
        inner = [
            node for node in ast.walk(value) if isinstance(node, ast.Call) and last_name(node.func) in self.functions
        ]
        stored = [self._stored(node.value) for node in ast.walk(value) if isinstance(node, ast.Subscript)]
        line = next(filter(None, stored), None) if not inner else None
        return line or self.made(inner[-1] if inner else value, value.lineno, path, deeper) or value.lineno

    def _stored(self, node: ast.AST) -> int | None:
        """Return where the script makes what it keeps as `self.name`, if it does so once, and not from a parameter."""
        if not isinstance(node, ast.Attribute):
            return None
        name = ast.unparse(node)
        stores = [
            store
            for store in ast.walk(self.tree)
            if isinstance(store, ast.Assign) and ast.unparse(store.targets[0]) == name
        ]
        return stores[0].lineno if len(stores) == 1 and not isinstance(stores[0].value, ast.Name | ast.List) else None


def _within(value: ast.expr, path: tuple[Any, ...]) -> tuple[ast.expr, tuple[Any, ...]]:
    """Return the part of a dictionary or tuple that the path leads to, and the rest of the path."""
    while path:
        if isinstance(value, ast.Dict):
            names = [key.value if isinstance(key, ast.Constant) else None for key in value.keys]
            if path[0] not in names:
                break
            value, path = value.values[names.index(path[0])], path[1:]
        elif isinstance(value, ast.Tuple) and isinstance(path[0], int) and 0 <= path[0] < len(value.elts):
            value, path = value.elts[path[0]], path[1:]
        else:
            break
    return value, path


def scope_of(tree: ast.Module, line: int) -> Any:
    """Return the innermost function that holds a line, or the module."""
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, _SCOPES[:2]) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return max(around, key=lambda one: one.lineno, default=tree)


def _bindings(scope: Any) -> Iterator[Any]:
    """Yield the assignments and loops of a scope, without those of functions within it."""
    stack = list(scope.body)
    while stack:
        node = stack.pop()
        if isinstance(node, (*_SCOPES, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.For):
            yield node
        stack.extend(ast.iter_child_nodes(node))


def _target(binding: Any) -> ast.AST:
    return binding.targets[0] if isinstance(binding, ast.Assign) else binding.target


def _part(target: ast.AST, name: str) -> tuple[int, ...] | None:
    """Return the place of a name in what is assigned to: () for the whole, (1,) for `a, name`, None if it is not there."""
    if isinstance(target, ast.Name):
        return () if target.id == name else None
    for place, part in enumerate(getattr(target, "elts", [])):
        below = _part(part, name)
        if below is not None:
            return (place, *below)
    return None
