"""Imports: `import torch.nn.functional as F` as `from torch.nn import functional as F`, loaders by their path."""

import ast
from random import Random

from bugzoo.dialects._scopes import scopes_of
from bugzoo.dialects._text import Cut, Text, one_line

KIND = "spelling"
_LINES = {
    "import torch.nn.functional as F": ("from torch.nn import functional as F",),
    "from torch import nn": ("import torch.nn as nn",),
    "import math": (),
}


def rewrite(source: str, draw: Random) -> str | None:
    text = Text(source)
    cuts: list[Cut] = []
    for node in text.tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom) and one_line(node):
            said = text.of(node)
            if other := _LINES.get(said):
                cuts.append(text.cut(node, draw.choice(other)))
            elif said.startswith("from torch.utils.data import ") and not text.looks_up:
                cuts += _whole_paths(text, node, draw.choice(("data_tools", "torch_data", "tud")))
    return text.edited(cuts)


def _whole_paths(text: Text, node: ast.stmt, module: str) -> list[Cut]:
    """`DataLoader(...)` as `data_tools.DataLoader(...)`."""
    assert isinstance(node, ast.ImportFrom)
    if module in text.words or any(one.asname for one in node.names):
        return []
    scopes = scopes_of(text)
    cuts = [text.cut(node, f"import torch.utils.data as {module}")]
    for one in node.names:
        uses = scopes.of_module(one.name)
        if one.name in scopes.unwritten or any(
            isinstance(use.node, ast.Name) and not isinstance(use.node.ctx, ast.Load) for use in uses
        ):
            return []
        cuts += [scopes.written(use, f"{module}.{one.name}") for use in uses if isinstance(use.node, ast.Name)]
    return cuts
