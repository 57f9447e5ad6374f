"""Results: `return self.head(hidden)` as a name for the result and `return result`."""

import ast
from random import Random

from bugzoo.dialects._text import Text, one_line, simple

KIND = "spelling"
_NAMES = ("result", "out", "answer", "output_values")


def rewrite(source: str, draw: Random) -> str | None:
    text, cuts = Text(source), []
    names = list(_NAMES)
    draw.shuffle(names)
    name = text.fresh(names)
    if name is None:
        return None
    for node in text.nodes:
        if not isinstance(node, ast.Return) or node.value is None or simple(node.value) or not one_line(node):
            continue
        row, value = text.rows(node), text.of(node.value)
        if row is None or (isinstance(node.value, ast.Tuple) and not value.startswith("(")):
            continue
        start, behind = text.span(node)[0], text.source[text.span(node)[1] : row[1]].rstrip("\n")  # its comment
        end = row[1] - text.source[: row[1]].endswith("\n")
        cuts.append((start, end, f"{name} = {value}{behind}\n{text.margin(node)}return {name}"))
    return text.edited(cuts)
