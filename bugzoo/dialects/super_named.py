"""The base class's `__init__`: `super().__init__()` as `super(Net, self).__init__()` or `nn.Module.__init__(self)`."""

import ast
from random import Random

from bugzoo.dialects._text import Text, dotted

KIND = "spelling"


def rewrite(source: str, draw: Random) -> str | None:
    text, short = Text(source), draw.random() < 0.5
    cuts = []
    for made in text.tree.body:  # at the top level, where a method finds its class by name
        if not isinstance(made, ast.ClassDef) or made.decorator_list:
            continue
        for method in made.body:
            if not isinstance(method, ast.FunctionDef) or method.decorator_list or not method.args.args:
                continue
            own = method.args.args[0].arg
            for node in ast.walk(method):
                if isinstance(node, ast.Expr) and text.of(node) == "super().__init__()" and node in method.body:
                    one_base = len(made.bases) == 1 and dotted(made.bases[0]) == "nn.Module"
                    if short and one_base and text.imported("torch.nn", "nn"):
                        cuts.append(text.cut(node, f"nn.Module.__init__({own})"))
                    elif _once(text, made.name):
                        cuts.append(text.cut(node, f"super({made.name}, {own}).__init__()"))
    return text.edited(cuts)


def _once(text: Text, name: str) -> bool:
    """Whether the name always is the class: no second definition, no other value."""
    made = [one for one in ast.walk(text.tree) if getattr(one, "name", None) == name]
    return len(made) == 1 and not any(
        isinstance(one, ast.Name) and one.id == name and not isinstance(one.ctx, ast.Load)
        for one in ast.walk(text.tree)
    )
