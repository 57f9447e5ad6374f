"""Arguments that would be so anyway, written down: `zero_grad(set_to_none=True)`, `reduction="mean"`."""

import ast
from random import Random

from bugzoo.dialects._text import Cut, Text, dotted

KIND = "spelling"
DEFAULTS = {
    "nn.Linear": ("bias=True",),
    "nn.LayerNorm": ("eps=1e-5",),
    "nn.Conv2d": ("bias=True", "dilation=1", "groups=1"),
    "nn.BatchNorm2d": ("eps=1e-5", "momentum=0.1"),
    "nn.Dropout": ("inplace=False",),
    "nn.LSTM": ("bias=True", "bidirectional=False"),
    "nn.Embedding": ("sparse=False", "max_norm=None"),
    "F.cross_entropy": ('reduction="mean"', "label_smoothing=0.0"),
    "F.mse_loss": ('reduction="mean"',),
    "F.relu": ("inplace=False",),
    "DataLoader": ("shuffle=False", "drop_last=False", "pin_memory=False"),
    "torch.optim.Adam": ("betas=(0.9, 0.999)", "eps=1e-8", "weight_decay=0", "amsgrad=False"),
    "torch.optim.AdamW": ("betas=(0.9, 0.999)", "eps=1e-8", "amsgrad=False"),
}
"""Keyword arguments at the value that torch gives them; those that a call has already are left out."""
_POSITIONAL = {"nn.LayerNorm": 1, "nn.BatchNorm2d": 1, "nn.Dropout": 1, "F.relu": 1, "nn.Conv2d": 3, "nn.LSTM": 3}
"""So many arguments (else two) may come without a name; where there are more, one of them may be what is written down."""
_FROM = {"nn": "torch.nn", "F": "torch.nn.functional", "torch": "torch", "DataLoader": "torch.utils.data.DataLoader"}
_GRADIENTS = "set_to_none=True"


def rewrite(source: str, draw: Random) -> str | None:
    text = Text(source)
    chosen = {name: draw.sample(more, draw.randint(1, len(more))) for name, more in DEFAULTS.items()}
    cuts: list[Cut] = []
    for name, more in chosen.items():
        root = name.split(".")[0]
        if text.imported(_FROM[root], root):
            cuts += [cut for call in text.calls(name) if (cut := _with(text, call, more, _POSITIONAL.get(name, 2)))]
    optimizers = _optimizers(text)
    for node in text.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "zero_grad":
            if dotted(node.func.value) in optimizers and not node.args and not node.keywords:
                cuts.append(text.cut(node, f"{text.of(node.func)}({_GRADIENTS})"))
    return text.edited(cuts)


def _with(text: Text, call: ast.Call, more: list[str], positional: int) -> Cut | None:
    """The call with further arguments; None where what it has may already say them."""
    names = {one.arg for one in call.keywords}
    if None in names or len(call.args) > positional or any(isinstance(one, ast.Starred) for one in call.args):
        return None
    # a sampler decides about the order itself, and one that hands over whole batches about these, too
    if names & {"sampler", "batch_sampler"} or (not call.args and not names):
        return None
    new = [one for one in more if one.partition("=")[0] not in names]
    end = text.span(call)[1] - 1
    before = text.source[:end].rstrip()
    if not new or before.endswith(",") or "#" in text.of(call):
        return None
    return end, end, "".join(f", {one}" for one in new)


def _optimizers(text: Text) -> set[str]:
    """Names that never are anything but an optimiser of torch's."""
    found: set[str] = set()
    right: set[int] = set()
    for node in ast.walk(text.tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and isinstance(node.targets[0], ast.Name):
            path = dotted(node.value.func)
            if path.startswith("torch.optim.") and ".lr_scheduler." not in path:
                found.add(node.targets[0].id)
                right.add(id(node.targets[0]))
    names = [one for one in ast.walk(text.tree) if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)]
    given = {one.arg for one in ast.walk(text.tree) if isinstance(one, ast.arg)}
    return found - given - {one.id for one in names if id(one) not in right}
