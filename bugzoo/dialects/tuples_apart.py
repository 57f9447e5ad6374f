"""Assignments of several names in one line, a line each: `inputs, targets = inputs.to(device), targets.to(device)`."""

import ast
from random import Random

from bugzoo.dialects._text import Text, dotted, one_line

KIND = "spelling"


def rewrite(source: str, draw: Random) -> str | None:
    text, cuts = Text(source), []
    for block in text.blocks():
        for node in block:
            if not isinstance(node, ast.Assign) or not one_line(node) or text.rows(node) is None:
                continue
            lines = _apart(text, node)
            if lines:
                cuts.append(text.cut(node, f"\n{text.margin(node)}".join(lines)))
    return text.edited(cuts)


def _apart(text: Text, node: ast.Assign) -> list[str]:
    """The assignments one by one; [] where one of them could see what an earlier one has done."""
    target, value = node.targets[0], node.value
    if len(node.targets) != 1 or not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple):
        return []
    if len(target.elts) != len(value.elts) or any(isinstance(one, ast.Starred) for one in (*target.elts, *value.elts)):
        return []
    names = [dotted(one) for one in target.elts]
    if not all(names) or len(set(names)) < len(names):
        return []
    for place, name in enumerate(names):
        for later in value.elts[place + 1 :]:
            parts = [one for one in ast.walk(later) if isinstance(one, ast.Name | ast.Attribute)]
            if any(dotted(one) == name for one in parts) or not _alone(later, text):
                return []
        if "." in name and not all(_new_module(later) for later in value.elts[place + 1 :]):
            return []  # what an attribute is set to may be asked for under another name
    return [f"{text.of(one)} = {text.of(given)}" for one, given in zip(target.elts, value.elts, strict=True)]


def _new_module(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Call) and dotted(node.func).startswith("nn."))


def _calls(node: ast.AST) -> list[ast.Call]:
    return [one for one in ast.walk(node) if isinstance(one, ast.Call)]


def _alone(value: ast.expr, text: Text) -> bool:
    """Whether working it out asks for no name but those that stand in it: it calls no function of the script."""
    if any(isinstance(one, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr) for one in ast.walk(value)):
        return False
    own = {one.name for one in ast.walk(text.tree) if isinstance(one, ast.FunctionDef)}
    return all(isinstance(one.func, ast.Attribute) and one.func.attr not in own for one in _calls(value))
