"""Products: `a @ b` as `torch.matmul(a, b)` in the methods of a module."""

import ast
from random import Random

from bugzoo.dialects._text import Text, dotted

KIND = "spelling"


def rewrite(source: str, draw: Random) -> str | None:
    text = Text(source)
    if not text.imported("torch", "torch"):
        return None
    cuts = []
    for made in text.tree.body:
        if isinstance(made, ast.ClassDef) and any(dotted(one) == "nn.Module" for one in made.bases):
            found = [one for one in ast.walk(made) if isinstance(one, ast.BinOp) and isinstance(one.op, ast.MatMult)]
            inner = {id(part) for one in found for part in ast.walk(one) if part is not one}
            for one in found:
                if id(one) not in inner and not any(_is_product(part) for part in (one.left, one.right)):
                    cuts.append(text.cut(one, f"torch.matmul({text.of(one.left)}, {text.of(one.right)})"))
    return text.edited(cuts)


def _is_product(node: ast.AST) -> bool:
    return any(isinstance(one, ast.MatMult) for one in ast.walk(node))
