"""Spellings of numbers: `1e-3` as `0.001`, `524_288` as `524288`, `0.1` as `1e-1`."""

import ast
from random import Random

from bugzoo.dialects._text import Text

KIND = "spelling"


def rewrite(source: str, draw: Random) -> str | None:
    text, cuts = Text(source), []
    for node in text.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
            said = text.of(node)
            other = _other(node.value, said)
            if other != said and repr(ast.literal_eval(other)) == repr(node.value):
                cuts.append(text.cut(node, other))
    return text.edited(cuts)


def _other(value: float, said: str) -> str:
    if isinstance(value, int):
        return str(value) if "_" in said or value < 10_000 else f"{value:_}"
    if "e" in said.lower():
        return f"{value:.12f}".rstrip("0") + "0" * (value == int(value))
    digits, _, power = f"{value:.6e}".partition("e")
    return f"{digits.rstrip('0').rstrip('.')}e{int(power)}" if 0 < value < 0.5 else said
