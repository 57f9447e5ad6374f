"""Calls in calls, a line each: `hidden = F.relu(self.layer1(inputs))` as two steps."""

import ast
from random import Random

from bugzoo.dialects._text import Text, assigns_a_name, dotted, one_line

KIND = "spelling"


def rewrite(source: str, draw: Random) -> str | None:
    text, cuts = Text(source), []
    made = [one for one in text.nodes if isinstance(one, ast.FunctionDef) and one.name == "forward"]
    inside = {id(one) for function in made for one in ast.walk(function)}
    for block in text.blocks():
        for node in block:
            if (
                id(node) in inside
                and assigns_a_name(node)
                and one_line(node)
                and text.rows(node)
                and isinstance(node.value, ast.Call)
            ):
                call, name = node.value, text.of(node.targets[0])
                if not call.args or not isinstance(call.args[0], ast.Call) or not _tensors(call.args[0]):
                    continue
                inner = call.args[0]
                others = [*call.args[1:], *call.keywords]
                if not dotted(call.func) or name in _names([call.func, *others]) or _awkward(call):
                    continue
                start, end = text.span(inner)
                first = f"{name} = {text.of(inner)}\n{text.margin(node)}{name} = "
                head = text.span(call)[0]
                cuts += [(text.span(node)[0], head, first), (start, end, name)]
    return text.edited(cuts)


def _tensors(call: ast.Call) -> bool:
    """A module or a function of torch is called: it asks for no name of the script."""
    return dotted(call.func).split(".")[0] in ("self", "F", "torch")


def _names(parts: list[ast.AST]) -> set[str]:
    return {one.id for part in parts for one in ast.walk(part) if isinstance(one, ast.Name)}


def _awkward(call: ast.Call) -> bool:
    inner = (ast.NamedExpr, ast.Lambda, ast.Starred, ast.GeneratorExp, ast.Await)
    return any(isinstance(one, inner) for one in ast.walk(call))
