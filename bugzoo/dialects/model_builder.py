"""A function that makes the model and its optimiser: `model, optimizer = build()`."""

import ast
from random import Random

from bugzoo.dialects._extract import extracted
from bugzoo.dialects._text import Text, assigns_a_name

KIND = "structure"
_NAMES = ("build", "make_model", "build_model", "set_up")


def rewrite(source: str, draw: Random) -> str | None:
    text, names = Text(source), list(_NAMES)
    draw.shuffle(names)
    begin, end = text.section("Model")
    body = [node for node in text.tree.body if begin < node.lineno < end]
    first = next((n for n, one in enumerate(body) if assigns_a_name(one) and text.of(one.targets[0]) == "model"), None)
    if first is None:
        return None
    for stop in range(len(body), first, -1):
        if not any(isinstance(one, ast.FunctionDef | ast.ClassDef) for one in body[first:stop]):
            if (made := extracted(text, body[first:stop], names, least=1)) is not None:
                return made
    return None
