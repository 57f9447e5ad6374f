"""The mode of a model: `model.eval()` as `model.train(False)`, `model.train()` as `model.train(True)`."""

import ast
from random import Random

from bugzoo.dialects._text import Text

KIND = "spelling"


def rewrite(source: str, draw: Random) -> str | None:
    text, way = Text(source), draw.choice(("", "mode="))
    if any(isinstance(one, ast.FunctionDef) and one.name in ("train", "eval") for one in text.nodes):
        return None  # a class of the script, whose `train` may be another thing
    cuts = []
    for node in text.nodes:
        # a statement of its own, so that the object is one that trains: `df.eval()` is used for what it returns
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and not node.value.args:
            call = node.value
            if not isinstance(call.func, ast.Attribute) or not isinstance(call.func.value, ast.Name) or call.keywords:
                continue
            if call.func.attr in ("train", "eval"):
                cuts.append(text.cut(call, f"{text.of(call.func.value)}.train({way}{call.func.attr == 'train'})"))
    return text.edited(cuts)
