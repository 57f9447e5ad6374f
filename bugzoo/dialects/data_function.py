"""A function that makes the data: `train_loader, validation_loader = load_data()`, as much of the section as can be moved."""

import ast
from random import Random

from bugzoo.dialects._extract import extracted
from bugzoo.dialects._text import Text

KIND = "structure"
_NAMES = ("load_data", "make_data", "prepare_data", "read_data")


def rewrite(source: str, draw: Random) -> str | None:
    text, names = Text(source), list(_NAMES)
    draw.shuffle(names)
    begin, end = text.section("Data")
    body = [node for node in text.tree.body if begin < node.lineno < end]
    runs: list[list[ast.stmt]] = [[]]
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            runs.append([])
        elif not (isinstance(node, ast.Expr) and "manual_seed" in text.of(node)):
            runs[-1].append(node)
    for run in sorted(runs, key=len, reverse=True):
        for length in range(len(run), 2, -1):
            for start in range(len(run) - length + 1):
                if (made := extracted(text, run[start : start + length], names, least=1)) is not None:
                    return made
    return None
