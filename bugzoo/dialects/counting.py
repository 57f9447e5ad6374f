"""Counters: `step += 1` as `step = step + 1`, for names that never are anything but a number."""

import ast
from random import Random

from bugzoo.dialects._text import Text

KIND = "spelling"
_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
_COUNT = ("item", "numel", "len", "int", "float")


def rewrite(source: str, draw: Random) -> str | None:
    text = Text(source)
    if text.looks_up or any(text.bound(name) for name in _COUNT):
        return None
    numbers, cuts = _numbers(text.tree), []
    for node in text.nodes:
        if isinstance(node, ast.AugAssign) and type(node.op) in _SIGNS and isinstance(node.target, ast.Name):
            if (name := node.target.id) in numbers:
                value = text.of(node.value)
                value = f"({value})" if isinstance(node.value, ast.BinOp) else value
                cuts.append(text.cut(node, f"{name} = {name} {_SIGNS[type(node.op)]} {value}"))
    return text.edited(cuts)


def _numbers(tree: ast.Module) -> set[str]:
    """Names that begin as a number and to which only numbers are added: `tensor += more` changes what others may hold."""
    found: set[str] = set()
    right: set[int] = set()
    for node in ast.walk(tree):
        pairs: list[tuple[ast.expr, ast.expr]] = []
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
            pairs = [(target, value)]
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
                pairs = list(zip(target.elts, value.elts, strict=True))
        elif isinstance(node, ast.AugAssign):
            pairs = [(node.target, node.value)]
        for one, given in pairs:
            if isinstance(one, ast.Name) and _is_number(given):
                found.add(one.id)
                right.add(id(one))
    names = [one for one in ast.walk(tree) if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)]
    given = {one.arg for one in ast.walk(tree) if isinstance(one, ast.arg)}
    return found - given - {one.id for one in names if id(one) not in right}


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return type(node.value) in (int, float)
    if isinstance(node, ast.BinOp):
        return _is_number(node.left) and _is_number(node.right)
    name = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
    return name in _COUNT
