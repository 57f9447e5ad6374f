"""A function for the evaluation: `correct, total, summed = evaluate()`."""

import ast
from random import Random

from bugzoo.dialects._extract import extracted
from bugzoo.dialects._text import Text, dotted

KIND = "structure"
_NAMES = ("evaluate", "run_validation", "validate", "measure_quality")
_QUIET = ("torch.no_grad", "torch.inference_mode")


def rewrite(source: str, draw: Random) -> str | None:
    text, names = Text(source), list(_NAMES)
    draw.shuffle(names)
    begin, end = text.section("Evaluation")
    body = [node for node in text.tree.body if begin < node.lineno < end]
    for place, node in enumerate(body):
        if isinstance(node, ast.With) and _quiet(node.items[0].context_expr):
            first = place
            while first and isinstance(body[first - 1], ast.Assign | ast.Expr) and not _made(body[first - 1]):
                first -= 1
            for start in range(first, place + 1):  # as much of what leads to it as can come along
                if (made := extracted(text, body[start : place + 1], names, least=1)) is not None:
                    return made
    return None


def _quiet(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and dotted(node.func) in _QUIET


def _made(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef | ast.ClassDef)
