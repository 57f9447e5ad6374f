"""Functions of `F` that torch has, too: `F.relu(x)` as `torch.relu(x)` or `x.relu()`."""

import ast
from random import Random

from bugzoo.dialects._text import Text

KIND = "spelling"


def rewrite(source: str, draw: Random) -> str | None:
    text = Text(source)
    if not text.imported("torch.nn.functional", "F") or not text.imported("torch", "torch"):
        return None
    cuts, method = [], draw.random() < 0.5
    for call in text.calls("F.relu"):
        if len(call.args) != 1 or call.keywords or isinstance(call.args[0], ast.Starred):
            continue
        if method and isinstance(call.args[0], ast.Name | ast.Call | ast.Attribute):
            _, end = text.span(call.args[0])
            start, stop = text.span(call)
            if text.source[end:stop] == ")":  # only what stands around the argument, as another call may stand in it
                cuts += [(start, text.span(call.args[0])[0], ""), (end, stop, ".relu()")]
        else:
            cuts.append(text.cut(call.func, "torch.relu"))
    for name in ("softmax", "log_softmax"):
        for call in text.calls(f"F.{name}"):
            # without dim torch guesses here and asks there
            if len(call.args) == 1 and [one.arg for one in call.keywords] == ["dim"]:
                cuts.append(text.cut(call.func, f"torch.{name}"))
    return text.edited(cuts)
