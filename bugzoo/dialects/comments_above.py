"""Comments behind a line, put above it."""

import ast
import io
import tokenize
from random import Random

from bugzoo.dialects._text import Cut, Text

KIND = "layout"
_SAYS = ("# noqa", "# type:", "# pyright", "# %%", "# fmt", "#!")
"""A comment that a tool reads has to stay where it is."""


def rewrite(source: str, draw: Random) -> str | None:
    text, cuts = Text(source), []
    behind = _comments(source)
    for block in text.blocks():
        for node in block:
            column = behind.get(node.lineno)
            own_line = not text.lines[node.lineno - 1][: len(text.margin(node))].strip() and _starts(text, node)
            if column is None or not own_line or not _head_in_one_line(node):
                continue
            start = text.at(node.lineno, 0)
            line = text.lines[node.lineno - 1]
            code, comment = line[:column].rstrip(), line[column:].rstrip("\r\n")
            if not comment.startswith(_SAYS):
                cuts.append((start, start + len(line.rstrip("\r\n")), f"{text.margin(node)}{comment}\n{code}"))
    return text.edited(_once(cuts))


def _once(cuts: list[Cut]) -> list[Cut]:
    return list({cut[0]: cut for cut in cuts}.values())


def _comments(source: str) -> dict[int, int]:
    """Line -> column, in characters, of the comment that stands behind code in it."""
    tokens = tokenize.generate_tokens(io.StringIO(source, newline="").readline)
    return {
        one.start[0]: one.start[1]
        for one in tokens
        if one.type == tokenize.COMMENT and one.line[: one.start[1]].strip()
    }


def _starts(text: Text, node: ast.stmt) -> bool:
    return text.lines[node.lineno - 1][len(text.margin(node).encode()) :] != "" and node.col_offset == len(
        text.margin(node)
    )


def _head_in_one_line(node: ast.stmt) -> bool:
    body = getattr(node, "body", None)
    if not isinstance(body, list):
        return node.lineno == node.end_lineno
    return node.lineno < body[0].lineno and not getattr(node, "decorator_list", None)
