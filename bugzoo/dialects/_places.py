"""Where a training script does what: its training loop, the step in it, its evaluation."""

import ast

from bugzoo.dialects._text import Text, trains


def training_loop(text: Text) -> ast.For | None:
    """The loop of the top level that trains; None where there is none, or several."""
    found = [node for node in text.tree.body if isinstance(node, ast.For) and trains(node)]
    return found[0] if len(found) == 1 else None


def batch_loop(text: Text) -> ast.For | None:
    """The innermost loop around `.backward()` within the training loop."""
    loop = training_loop(text)
    while loop is not None:
        inner = [node for node in loop.body if isinstance(node, ast.For) and trains(node)]
        if not inner:
            return loop
        loop = inner[0] if len(inner) == 1 else None
    return None


def step_of(loop: ast.For) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """(the statements up to the one that calls `.backward()`, those from it to the last that steps) of a batch loop."""
    body = loop.body
    back = next((place for place, node in enumerate(body) if trains(node)), None)
    if back is None:
        return [], []
    last = max((place for place, node in enumerate(body) if _steps(node) and place >= back), default=back)
    return body[:back], body[back : last + 1]


def _steps(node: ast.stmt) -> bool:
    return any(
        isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in ("step", "update")
        for one in ast.walk(node)
    )


def names_of(node: ast.expr) -> list[str]:
    """The names of a loop's target."""
    return [one.id for one in ast.walk(node) if isinstance(one, ast.Name)]
