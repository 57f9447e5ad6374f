"""Single quotes: `"cpu"` as `'cpu'`."""

import ast
from random import Random

from bugzoo.dialects._text import Text

KIND = "layout"


def rewrite(source: str, draw: Random) -> str | None:
    text, cuts = Text(source), []
    for node in text.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            said = text.of(node)
            plain = said.startswith('"') and not said.startswith('""') and "'" not in said and said.count('"') == 2
            if plain and node.lineno == node.end_lineno:
                cuts.append(text.cut(node, f"'{said[1:-1]}'"))
    return text.edited(cuts)
