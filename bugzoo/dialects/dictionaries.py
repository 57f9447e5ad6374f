"""Dictionaries with names for keys: `{"loss": a}` as `dict(loss=a)`."""

import ast
import keyword
from random import Random

from bugzoo.dialects._text import Text

KIND = "spelling"


def rewrite(source: str, draw: Random) -> str | None:
    text = Text(source)
    if text.bound("dict"):
        return None
    cuts = []
    for node in text.nodes:
        if isinstance(node, ast.Dict) and node.keys:
            names = [one.value if isinstance(one, ast.Constant) else None for one in node.keys]
            if all(isinstance(one, str) and one.isidentifier() and not keyword.iskeyword(one) for one in names):
                if len(set(names)) == len(names) and "#" not in text.of(node) and not _inner(node):
                    pairs = zip(names, node.values, strict=True)
                    cuts.append(text.cut(node, f"dict({', '.join(f'{one}={text.of(value)}' for one, value in pairs)})"))
    return text.edited(cuts)


def _inner(node: ast.Dict) -> bool:
    return any(isinstance(one, ast.Dict | ast.NamedExpr) for value in node.values for one in ast.walk(value))
