"""The head of a loop over batches: `for inputs, targets in loader:` as `for pair in loader:` with the names in its first line."""

import ast
from random import Random

from bugzoo.dialects._text import Text

KIND = "spelling"
_NAMES = ("pair", "minibatch", "batch_of_data", "items")


def rewrite(source: str, draw: Random) -> str | None:
    text, cuts = Text(source), []
    names = list(_NAMES)
    draw.shuffle(names)
    name, counted = text.fresh(names), draw.random() < 0.4
    number = text.fresh(("batch_index", "i_batch", "n_batch"))
    if name is None or number is None:
        return None
    for node in text.nodes:
        if (
            not isinstance(node, ast.For)
            or not isinstance(node.target, ast.Tuple)
            or not isinstance(node.iter, ast.Name)
        ):
            continue
        if not all(isinstance(one, ast.Name) for one in node.target.elts) or text.rows(node.body[0]) is None:
            continue
        start, end = text.span(node.target)
        if text.source[start] == "(":
            continue
        if counted and not text.bound("enumerate"):
            cuts += [
                (start, end, f"{number}, ({text.source[start:end]})"),
                text.cut(node.iter, f"enumerate({node.iter.id})"),
            ]
        else:
            first = text.inserted(node.body[0], f"{text.source[start:end]} = {name}")
            cuts += [(start, end, name), first] if first else []
    return text.edited(cuts)
