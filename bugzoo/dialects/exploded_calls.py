"""Long calls, an argument in a line."""

import ast
from itertools import pairwise
from random import Random

from bugzoo.dialects._text import Cut, Text, one_line

KIND = "layout"
LONG = 40
"""Characters of a call that is taken apart."""


def rewrite(source: str, draw: Random) -> str | None:
    text = Text(source)
    cuts: list[Cut] = []
    for block in text.blocks():
        for node in block:
            if (
                not isinstance(node, ast.Assign | ast.Expr | ast.Return)
                or not one_line(node)
                or text.rows(node) is None
            ):
                continue
            call = node.value
            several = isinstance(call, ast.Call) and len(call.args) + len(call.keywords) > 1
            if isinstance(call, ast.Call) and several and len(text.of(call)) > LONG and draw.random() < 0.8:
                cuts += _exploded(text, call, text.margin(node))
    return text.edited(cuts)


def _exploded(text: Text, call: ast.Call, margin: str) -> list[Cut]:
    parts = sorted(text.span(one) for one in [*call.args, *call.keywords])
    end, found = text.span(call)[1] - 1, []
    head = text.source.find("(", text.span(call.func)[1])
    gaps = [
        (head + 1, parts[0][0]),
        *((one[1], two[0]) for one, two in pairwise(parts)),
        (parts[-1][1], end),
    ]
    for place, (start, stop) in enumerate(gaps):
        if text.source[start:stop].strip(" ,"):
            return []  # parentheses of an argument
        last = place == len(gaps) - 1
        found.append((start, stop, f"{',' if place else ''}\n{margin}{'' if last else '    '}"))
    return found
