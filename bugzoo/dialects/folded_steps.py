"""Steps in a row, in one line: `hidden = self.layer2(hidden)` and `hidden = F.relu(hidden)` as one call in the other."""

import ast
from itertools import pairwise
from random import Random

from bugzoo.dialects._text import Cut, Text, assigns_a_name, dotted, one_line

KIND = "spelling"


def rewrite(source: str, draw: Random) -> str | None:
    text, cuts, used = Text(source), [], set()
    for block in text.blocks():
        for first, second in pairwise(block):
            if id(first) not in used and (made := _folded(text, first, second)):
                cuts += made
                used.add(id(second))
    return text.edited(cuts)


def _folded(text: Text, first: ast.stmt, second: ast.stmt) -> list[Cut]:
    """The edits that put the value of `first` into `second`; [] where that would be something else."""
    if not (assigns_a_name(first) and assigns_a_name(second) and one_line(first) and one_line(second)):
        return []
    name, call, above, below = text.of(first.targets[0]), second.value, text.rows(first), text.rows(second)
    if name != text.of(second.targets[0]) or not isinstance(call, ast.Call) or not dotted(call.func):
        return []
    uses = [one for one in ast.walk(call) if isinstance(one, ast.Name) and one.id == name]
    if len(uses) != 1 or not call.args or call.args[0] is not uses[0] or isinstance(first.value, ast.Tuple):
        return []
    # a comment would not know where to stay
    if not above or not below or text.source[text.span(first)[1] : below[0]].strip():
        return []
    return [(above[0], below[0], ""), text.cut(uses[0], text.of(first.value))]
