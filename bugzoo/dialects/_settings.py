"""The settings of a program that can be kept elsewhere, and every place that reads them."""

import ast
from dataclasses import dataclass

from bugzoo.dialects._scopes import KEPT, scopes_of
from bugzoo.dialects._text import Cut, Text, one_line


@dataclass(frozen=True)
class Setting:
    """`name = value  # comment` in the section Settings; value as it is written and as it is."""

    node: ast.Assign
    name: str
    said: str
    value: object
    comment: str
    """With the two spaces before it; "" where there is none."""


def movable(text: Text) -> list[Setting]:
    """Settings that are given a literal once, in a line of their own, and that no grader rewrites."""
    begin, end = text.section("Settings")
    if text.looks_up:
        return []
    scopes, found = scopes_of(text), []
    for node in text.tree.body:
        if not (begin < node.lineno < end and isinstance(node, ast.Assign) and one_line(node)):
            continue
        target, value = node.targets[0], node.value
        if len(node.targets) > 1 or not isinstance(target, ast.Name) or not isinstance(value, ast.Constant):
            continue
        uses = scopes.of_module(target.id)
        once = sum(not isinstance(getattr(use.node, "ctx", None), ast.Load) for use in uses) == 1
        place = text.rows(node)
        if once and place and target.id not in KEPT | scopes.unwritten and type(value.value) in (int, float, str):
            behind = text.source[text.span(node)[1] : place[1]].strip()
            comment = f"  {behind}" if behind else ""
            found.append(Setting(node, target.id, text.of(value), value.value, comment))
    return found


def moved(text: Text, settings: list[Setting], holder: str, block: str, import_line: str) -> str | None:
    """The text with `block` where the first setting stood, and `holder.name` wherever one is read."""
    scopes, ours = scopes_of(text), {id(one.node.targets[0]) for one in settings}
    cuts: list[Cut] = []
    for place, one in enumerate(settings):
        row = text.rows(one.node)
        assert row
        cuts.append((*row, "" if place else block))
        for use in scopes.of_module(one.name):
            if id(use.node) not in ours:
                cuts.append(scopes.written(use, f"{holder}.{one.name}"))
    first = next((node for node in text.tree.body if isinstance(node, ast.Import | ast.ImportFrom)), None)
    start = text.rows(first) if first else None
    if start is None:
        return None
    return text.edited([*cuts, *([(start[0], start[0], f"{import_line}\n")] if import_line else [])])
