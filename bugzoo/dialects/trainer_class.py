"""A class around the training loop: `trainer = Trainer(model, optimizer, losses, step)` and `trainer.fit()`."""

import ast
from random import Random

from bugzoo.dialects._extract import defined, inner_lines, rows
from bugzoo.dialects._flow import Flow, flow
from bugzoo.dialects._places import training_loop
from bugzoo.dialects._scopes import Scopes, scopes_of
from bugzoo.dialects._text import Cut, Text

KIND = "structure"
HIDES = True
_NAMES = (("Trainer", "fit", "trainer"), ("Training", "run", "training"), ("Runner", "train_model", "runner"))
_NAMES += (("Learner", "learn", "learner"), ("Fitting", "go", "fitting"))


def rewrite(source: str, draw: Random) -> str | None:
    text, names = Text(source), list(_NAMES)
    draw.shuffle(names)
    chosen = next((some for some in names if not text.words.intersection(some)), None)
    loop = training_loop(text)
    moves = flow(text, [loop]) if loop else None
    if loop is None or moves is None or chosen is None or "self" in moves.read:
        return None
    scopes = scopes_of(text)
    state = [name for name in moves.stored if name in (*moves.needed, *moves.left)]
    own = _objects(text, loop, moves, scopes) + state
    if not own or set(state) & _bound_by_loops(loop):
        return None
    body = _with_self(text, loop, set(own), scopes)
    lines = inner_lines(text, [loop], "        ", body)
    if lines is None:
        return None
    return text.edited(_edits(text, loop, chosen, own, moves, lines))


def _edits(
    text: Text, loop: ast.For, names: tuple[str, str, str], own: list[str], moves: Flow, lines: str
) -> list[Cut]:
    kind, method, name = names
    made = f"class {kind}:\n    def __init__(self, {', '.join(own)}):\n"
    made += "".join(f"        self.{one} = {one}\n" for one in own) + f"\n    def {method}(self):\n{lines}"
    call = f"{name} = {kind}({', '.join(own)})\n{name}.{method}()\n"
    if moves.left:
        call += f"{', '.join(moves.left)} = {', '.join(f'{name}.{one}' for one in moves.left)}\n"
    return [defined(text, loop, made), (*rows(text, [loop]), call)]


def _objects(text: Text, loop: ast.For, moves: Flow, scopes: Scopes) -> list[str]:
    """What the loop works with and does not set: names of which something is called, made by assignments alone."""
    called = set()
    for node in ast.walk(loop):
        if isinstance(node, ast.Call):
            owner = node.func.value if isinstance(node.func, ast.Attribute) else node.func
            called |= {owner.id} if isinstance(owner, ast.Name) else set()
    given = {target.id for one in text.tree.body for target in _targets(one)}
    read = {
        one.id
        for node in ast.walk(loop)
        if isinstance(node, ast.For)
        for one in ast.walk(node.iter)
        if isinstance(one, ast.Name)
    }
    return [name for name in moves.read if name in called & given - read - set(moves.stored) - scopes.module.fixed]


def _targets(node: ast.stmt) -> list[ast.Name]:
    found = node.targets if isinstance(node, ast.Assign) else []
    return [one for target in found for one in ast.walk(target) if isinstance(one, ast.Name)]


def _bound_by_loops(loop: ast.For) -> set[str]:
    heads = [node.target for node in ast.walk(loop) if isinstance(node, ast.For)]
    return {one.id for head in heads for one in ast.walk(head) if isinstance(one, ast.Name)}


def _with_self(text: Text, loop: ast.For, own: set[str], scopes: Scopes) -> str:
    """The lines of the loop with `self.` before what is the object's own."""
    start, end = rows(text, [loop])
    ids = {id(one) for one in ast.walk(loop)}
    places = [use for name in own for use in scopes.of_module(name) if id(use.node) in ids]
    written = text.source[start:end]
    for at in sorted((text.span(use.node)[0] for use in places), reverse=True):
        written = f"{written[: at - start]}self.{written[at - start :]}"
    return written
