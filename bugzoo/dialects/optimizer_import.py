"""The optimiser's path: `torch.optim.Adam(...)` as `optim.Adam(...)` or `Adam(...)`, with the import that it takes."""

import ast
from random import Random

from bugzoo.dialects._text import Text, dotted

KIND = "spelling"


def rewrite(source: str, draw: Random) -> str | None:
    text, whole = Text(source), draw.random() < 0.5
    lines = [
        one for one in text.tree.body if isinstance(one, ast.ImportFrom) and text.of(one) == "from torch import nn"
    ]
    if not text.imported("torch", "torch") or not lines or text.rows(lines[0]) is None:
        return None
    used = [one for one in text.nodes if isinstance(one, ast.Attribute) and dotted(one).startswith("torch.optim.")]
    used = [one for one in used if dotted(one).count(".") == 2]
    if whole:
        if text.bound("optim") or not used:
            return None
        cuts = [text.cut(one, dotted(one).removeprefix("torch.")) for one in used]
        return text.edited([*cuts, text.cut(lines[0], "from torch import nn, optim")])
    kinds = sorted({one.attr for one in used} - {"lr_scheduler"})
    if not kinds or any(text.bound(kind) for kind in kinds):
        return None
    end = text.span(lines[0])[1]
    cuts = [text.cut(one, one.attr) for one in used if one.attr in kinds]
    return text.edited([*cuts, (end, end, f"\nfrom torch.optim import {', '.join(kinds)}")])
