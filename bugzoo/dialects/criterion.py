"""A loss object: `F.cross_entropy(logits, targets)` as `criterion = nn.CrossEntropyLoss()` and `criterion(logits, targets)`."""

import ast
from random import Random

from bugzoo.dialects._places import training_loop
from bugzoo.dialects._text import Text, dotted

KIND = "structure"
_CLASSES = {"cross_entropy": "CrossEntropyLoss", "mse_loss": "MSELoss", "l1_loss": "L1Loss", "nll_loss": "NLLLoss"}
_NAMES = (("criterion", "summed_criterion", "third_criterion"), ("loss_fn", "loss_fn_sum", "loss_fn_other"))
_NAMES += (("objective_fn", "total_objective", "other_objective"), ("compute_error", "compute_errors", "other_error"))


def rewrite(source: str, draw: Random) -> str | None:
    text, names = Text(source), draw.choice(_NAMES)
    loop = training_loop(text)
    if loop is None or not text.imported("torch.nn.functional", "F") or not text.imported("torch.nn", "nn"):
        return None
    made: dict[str, str] = {}
    first = _first(text, loop)
    cuts = []
    for call in sorted((one for name in _CLASSES for one in text.calls(f"F.{name}")), key=text.span):
        said = [text.of(one) for one in call.keywords]
        if len(call.args) != 2 or not all(_settled(text, one, first) for one in call.keywords) or "#" in text.of(call):
            continue
        if any(isinstance(one, ast.Starred) for one in call.args) or call.lineno < first.lineno:
            continue
        wanted = f"nn.{_CLASSES[dotted(call.func).removeprefix('F.')]}({', '.join(said)})"
        if wanted not in made:
            fresh = next((one for one in names if one not in text.words and one not in made.values()), None)
            if fresh is None:
                continue
            made[wanted] = fresh
        head, tail = text.span(call)[0], text.span(call.args[1])[1]
        cuts += [(head, text.span(call.args[0])[0], f"{made[wanted]}("), (tail, text.span(call)[1], ")")]
    lines = text.inserted(first, "\n".join(f"{name} = {value}" for value, name in made.items())) if made else None
    return text.edited([*cuts, lines]) if lines else None


def _settled(text: Text, keyword: ast.keyword, first: ast.stmt) -> bool:
    """An argument that is the same at every call: a constant, or a name in capitals that was given a value once before."""
    value = keyword.value
    if keyword.arg is None or not isinstance(value, ast.Name):
        return keyword.arg is not None and isinstance(value, ast.Constant)
    given = [one for one in ast.walk(text.tree) if isinstance(one, ast.Name) and one.id == value.id]
    given = [one for one in given if not isinstance(one.ctx, ast.Load)]
    return value.id.isupper() and len(given) == 1 and given[0].lineno < first.lineno


def _first(text: Text, loop: ast.For) -> ast.stmt:
    """What the loss object is made before: the first statement of the section with the loop, as functions there may use it."""
    begin, end = text.section("Training")
    inside = [one for one in text.tree.body if begin < one.lineno < end]
    return inside[0] if inside and loop in inside else loop
