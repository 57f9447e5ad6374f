"""The order of keyword arguments."""

import ast
from random import Random

from bugzoo.dialects._text import Cut, Text, dotted, simple

KIND = "layout"
_ORDERED = ("dict", "OrderedDict", "Counter", "defaultdict", "update")
"""What keeps its arguments in the order in which they came, and is printed so."""


def rewrite(source: str, draw: Random) -> str | None:
    text = Text(source)
    if any(isinstance(node, ast.FunctionDef) and node.args.kwarg for node in text.nodes):
        return None  # a function of the script that could look at the order
    cuts: list[Cut] = []
    for node in text.nodes:
        if not isinstance(node, ast.Call) or len(node.keywords) < 2:
            continue
        if not dotted(node.func) or dotted(node.func).rpartition(".")[2] in _ORDERED:
            continue
        # what takes no work can be worked out in any order
        if all(one.arg and simple(one.value) for one in node.keywords) and "#" not in text.of(node):
            places = [text.span(one) for one in node.keywords]
            said = [text.of(one) for one in node.keywords]
            order = said[1:] + said[:1] if draw.random() < 0.5 else said[::-1]
            cuts += [(*place, other) for place, other in zip(places, order, strict=True)]
    return text.edited(cuts)
