"""The order of a class's methods: `forward` above `__init__`."""

import ast
from random import Random

from bugzoo.dialects._text import Cut, Text

KIND = "layout"


def rewrite(source: str, draw: Random) -> str | None:
    text = Text(source)
    cuts: list[Cut] = []
    for node in text.nodes:
        if isinstance(node, ast.ClassDef) and len(node.body) > 1:
            made = [one for one in node.body if isinstance(one, ast.FunctionDef)]
            names = [one.name for one in made]
            if len(made) < len(node.body) or len(set(names)) < len(names) or any(_eager(one) for one in made):
                continue
            order = made[1:] + made[:1] if draw.random() < 0.5 else made[::-1]
            cuts += text.exchanged(made, order)
    return text.edited(cuts)


def _eager(method: ast.FunctionDef) -> bool:
    """Whether something of it is worked out where it stands: a decorator, a default, a hint."""
    arguments = method.args
    hints = [one.annotation for one in [*arguments.args, *arguments.kwonlyargs]]
    inside = [*method.decorator_list, *arguments.defaults, *filter(None, arguments.kw_defaults), *filter(None, hints)]
    return any(not isinstance(one, ast.Constant | ast.Attribute) for one in inside)
