"""Turn a place and its change into text edits. Bytes outside an edit stay unchanged."""

import ast
import re
from collections.abc import Mapping

from ast_grep_py import SgNode

from bugzoo.faults.model import Change, Swap
from bugzoo.faults.script import Place, Script, fill, metavariables, statement
from bugzoo.syntax import parse

Cut = tuple[int, int, str]
"""(start, end, text): replace `source[start:end]` by the text."""

_PARAM = re.compile(r"\$([a-z_][a-z0-9_]*)")
_FOLD = re.compile(r"(?<![\w.])fold\(([^()]*)\)")
_ONE = re.compile(r"\$[A-Z_][A-Z0-9_]*")
_SAME = re.compile(r"^([\w.]+) = \1\n", re.MULTILINE)
"""A line without effect after the names are filled in: `outputs = outputs`."""
_WRAPPED = re.compile(r"(?<![\w\])])\(\$([A-Z_][A-Z0-9_]*)\)")
_SIMPLE = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.List, ast.Dict)


def write(text: str, names: Mapping[str, str], params: Mapping[str, object]) -> str:
    """Return `text` with metavariables and parameters filled in and `fold(...)` evaluated."""
    parts = _FOLD.split(text)  # every second part was between the parentheses
    written = [_number(_filled(_ONE.sub(r"(\g<0>)", part), names, params)) for part in parts[1::2]]
    parts[::2] = [_filled(part, names, params) for part in parts[::2]]
    parts[1::2] = written
    return "".join(parts)


def _filled(text: str, names: Mapping[str, str], params: Mapping[str, object]) -> str:
    text = _WRAPPED.sub(lambda m: f"${m[1]}" if _needs_no_parentheses(names.get(m[1], "")) else m[0], text)
    text = fill(text, names)
    return _PARAM.sub(lambda m: repr(params[m[1]]) if m[1] in params else m[0], text)


def render_swap(script: Script, place: Place, swap: Swap, params: Mapping[str, object]) -> list[Cut]:
    """Return the edit for one match of a swap: its `after`, indented like the statement that it replaces."""
    after = write(swap.after.strip("\n"), place.names(), params)
    if after:
        return [(place.start, place.end, _indented(after, _margin(script.source, place.start)))]
    return [_without(script.source, place)]


def render_change(
    script: Script, place: Place, change: Change, shared: Mapping[str, str], params: Mapping[str, object]
) -> list[Cut]:
    """Return the edits for one change of a place. `shared`: metavariables of the fault's other places."""
    names = {**shared, **place.names()}
    if change.how == "remove":
        return _removed(script, place, names)
    cuts = []
    for name, texts in change.texts:
        text = next((variant for variant in texts if metavariables(variant) <= names.keys()), texts[-1])
        text = _SAME.sub("", write(text.strip("\n"), names, params))
        if name:
            piece = place.pieces[name]
            cuts.append((piece.start, piece.end, _indented(text, _margin(script.source, place.start))))
        elif change.how == "before":
            cuts += _before(script.source, statement(place.node), text)
        else:
            cuts += _after(script.source, statement(place.node), text)
    return cuts


def _margin(source: str, at: int) -> str:
    """Return the indentation of the line."""
    return re.match(r"[ \t]*", source[source.rfind("\n", 0, at) + 1 :])[0]  # type: ignore[index]


def _indented(text: str, margin: str) -> str:
    first, *rest = text.split("\n")
    return "\n".join([first, *(margin + line if line else line for line in rest)])


def _line_end(source: str, at: int) -> int:
    end = source.find("\n", at)
    return len(source) if end < 0 else end


def _neighbour(node: SgNode, way: str) -> SgNode | None:
    """Return the next or previous statement in the same block, skipping comments."""
    other = getattr(node, way)()
    while other is not None and (not other.is_named() or other.kind() == "comment"):
        other = getattr(other, way)()
    return other


def _before(source: str, node: SgNode, text: str) -> list[Cut]:
    start = node.range().start.index
    margin = _margin(source, start)
    head = source[source.rfind("\n", 0, start) + 1 : start]
    if not head.strip():
        return [(start, start, f"{_indented(text, margin)}\n{margin}")]
    return [_own_line(source, node, margin, text)]


def _after(source: str, node: SgNode, text: str) -> list[Cut]:
    span = node.range()
    start, end = span.start.index, span.end.index
    margin, cuts = _margin(source, start), []
    head = source[source.rfind("\n", 0, start) + 1 : start]
    if head.strip() and _one_line_block(source, node):
        cuts.append(_own_line(source, node, margin))
        margin += "    "
    stop = _line_end(source, end)
    following = _neighbour(node, "next")
    if following is not None and following.range().start.index < stop:  # after a semicolon
        begin = following.range().start.index
        return [*cuts, (end, begin, f"\n{margin}{_indented(text, margin)}\n{margin}")]
    end += len(source[end:stop]) - len(source[end:stop].lstrip("; \t")) if source[end:stop].strip(" \t;") == "" else 0
    at = stop if source[end:stop].lstrip().startswith("#") else end
    return [*cuts, (at, at, f"\n{margin}{_indented(text, margin)}")]


def _one_line_block(source: str, node: SgNode) -> bool:
    """Return whether the block begins on its header's line: `if condition: statement`."""
    first = node
    while (earlier := _neighbour(first, "prev")) is not None:
        first = earlier
    start = first.range().start.index
    return bool(source[source.rfind("\n", 0, start) + 1 : start].strip())


def _own_line(source: str, node: SgNode, margin: str, text: str = "") -> Cut:
    """Move a statement that shares its line to a line of its own, with `text` before it."""
    start = node.range().start.index
    if _one_line_block(source, node):
        margin += "    "
        first = node
        while (earlier := _neighbour(first, "prev")) is not None:
            first = earlier
        if first is not node and first != node:
            start = first.range().start.index  # the whole block moves
    gap = len(source[:start]) - len(source[:start].rstrip("; \t"))
    between = f"{_indented(text, margin)}\n{margin}" if text else ""
    return start - gap, start, f"\n{margin}{between}"


def _removed(script: Script, place: Place, names: Mapping[str, str]) -> list[Cut]:
    source, parent = script.source, place.node.parent()
    if parent is not None and parent.kind() == "decorator":
        span = parent.range()
        start = source.rfind("\n", 0, span.start.index) + 1
        return [(start, min(_line_end(source, span.end.index) + 1, len(source)), "")]
    if parent is not None and parent.kind() == "with_item":
        return _unwrapped(source, parent)
    left = fill(place.left, names)
    if left and not _whole_statement(place, left):
        return [(place.start, place.end, left)]
    if left and (whole := statement(place.node)) is not None:
        span = whole.range()
        place = Place(
            span.start.index, span.end.index, span.start.line + 1, span.end.line + 1, place.pieces, whole, place.left
        )
    return [_without(source, place)]


def _whole_statement(place: Place, left: str) -> bool:
    """Return whether the place is a whole statement, or `x = x.method()`, which would leave `x = x`."""
    whole = statement(place.node).range()
    if (whole.start.index, whole.end.index) == (place.start, place.end):
        return True
    result, span = place.pieces.get("RESULT"), (whole.start.index, whole.end.index)
    return result is not None and result.text == left and (result.start, place.end) == span


def _unwrapped(source: str, item: SgNode) -> list[Cut]:
    """Remove one item of a `with`, or the whole `with` around its block."""
    clause = item.parent()
    others = [node for node in clause.children() if node.kind() == "with_item"] if clause is not None else []
    span = item.range()
    if len(others) > 1:
        if others[0].range().start.index == span.start.index:
            return [(span.start.index, others[1].range().start.index, "")]
        earlier = [node for node in others if node.range().end.index < span.start.index][-1]
        return [(earlier.range().end.index, span.end.index, "")]
    whole = statement(item)
    block = next(node for node in whole.children() if node.kind() == "block")
    head, body = whole.range().start.index, block.range()
    outer, inner = _margin(source, head), _margin(source, body.start.index)
    if "\n" not in source[head : body.start.index]:  # with ...: statement
        return [(head, body.start.index, "")]
    cuts: list[Cut] = [(head, body.start.index, "")]
    spans = [node.range() for node in block.find_all(kind="string") if "\n" in node.text()]
    quoted = [(span.start.index, span.end.index) for span in spans]
    at = source.find("\n", body.start.index, body.end.index)
    while at >= 0:
        if source.startswith(inner, at + 1) and not any(start < at < end for start, end in quoted):
            cuts.append((at + 1 + len(outer), at + 1 + len(inner), ""))
        at = source.find("\n", at + 1, body.end.index)
    return cuts


def _without(source: str, place: Place) -> Cut:
    """Remove the place: delete the line, or leave `pass` if the block would be empty."""
    line_start = source.rfind("\n", 0, place.start) + 1
    line_end = _line_end(source, place.end)
    alone = not source[line_start : place.start].strip() and re.match(r"[ \t]*(#.*)?$", source[place.end : line_end])
    if not alone or _only_statement(place):
        return place.start, place.end, "pass" if _is_statement(source, place) else "None"
    return line_start, min(line_end + 1, len(source)), ""


def _is_statement(source: str, place: Place) -> bool:
    """Return whether the place is a statement, not part of an expression such as `zero_grad() if ... else None`."""
    try:
        parse(f"{source[: place.start]}pass{source[place.end :]}")
    except SyntaxError:
        return False
    return True


def _only_statement(place: Place) -> bool:
    """Return whether the place is the only statement in its block."""
    block = statement(place.node).parent()
    if block is None or block.kind() != "block":
        return False
    spans = [child.range() for child in block.children() if child.is_named() and child.kind() != "comment"]
    return all(place.start <= span.start.index and span.end.index <= place.end for span in spans)


def _needs_no_parentheses(text: str) -> bool:
    try:
        return isinstance(parse(text, mode="eval").body, _SIMPLE)
    except (SyntaxError, ValueError):
        return False


def _number(expression: str) -> str:
    """Evaluate an expression of literals, `0.001 * 100` -> `0.1`. Any other expression stays."""
    try:
        tree = parse(expression.strip(), mode="eval")
    except SyntaxError:
        return expression
    allowed = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Constant, ast.operator, ast.unaryop)
    if not all(isinstance(node, allowed) for node in ast.walk(tree)):
        return expression
    value = eval(compile(tree, "<fold>", "eval"))
    return repr(float(f"{value:.12g}")) if isinstance(value, float) else repr(value)
