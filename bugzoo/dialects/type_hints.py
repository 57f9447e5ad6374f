"""Type hints on `forward`: `def forward(self, inputs: torch.Tensor) -> torch.Tensor`."""

import ast
import re
from random import Random

from bugzoo.dialects._text import Text

KIND = "spelling"
_END = re.compile(r"\s*,?\s*\)(?=\s*:)")


def rewrite(source: str, draw: Random) -> str | None:
    text = Text(source)
    if not text.imported("torch", "torch"):
        return None
    hint, cuts = draw.choice(("torch.Tensor", '"torch.Tensor"')), []
    for node in text.nodes:
        if not isinstance(node, ast.FunctionDef) or node.name != "forward" or node.returns or not node.args.args:
            continue
        if node.args.kwonlyargs or node.args.vararg or node.args.kwarg or any(one.annotation for one in node.args.args):
            continue
        first = node.args.args[1:2]  # what comes behind it may be anything
        if first and not node.args.defaults[: len(node.args.defaults) - len(node.args.args) + 2]:
            cuts.append((text.span(first[0])[1], text.span(first[0])[1], f": {hint}"))
        last = text.span([*node.args.args, *node.args.defaults][-1])[1]
        if end := _END.match(text.source, last):
            cuts.append((end.end(), end.end(), f" -> {hint}"))
    return text.edited(cuts)
