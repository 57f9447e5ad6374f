"""The order of the settings."""

import ast
from random import Random

from bugzoo.dialects._text import Text, assigns_a_name, one_line

KIND = "layout"


def rewrite(source: str, draw: Random) -> str | None:
    text = Text(source)
    begin, end = text.section("Settings")
    lines = [node for node in text.tree.body if begin < node.lineno < end]
    if not all(assigns_a_name(one) and isinstance(one.value, ast.Constant) and one_line(one) for one in lines):
        return None
    names = {text.of(one.targets[0]) for one in lines if isinstance(one, ast.Assign)}
    if len(lines) < 2 or len(names) < len(lines):
        return None
    order = list(lines)
    draw.shuffle(order)
    return text.edited(text.exchanged(lines, order))
