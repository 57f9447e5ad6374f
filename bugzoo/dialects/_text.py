"""A program's text with its syntax tree, and edits of it that leave every other character as it is."""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, TypeGuard

from bugzoo.syntax import parse, source_lines

Cut = tuple[int, int, str]
"""Replace `source[start:end]` by the text; offsets in characters."""
Block = list[ast.stmt]
_LOOKS_UP = {"globals", "locals", "vars", "eval", "exec", "dir", "__import__"}
"""Who calls one of these may find a name that no tree shows."""


class Text:
    """One source text. Raises SyntaxError where it is no Python."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.tree: ast.Module = parse(source)
        self.scopes: Any = None
        """What `bugzoo.dialects._scopes` has read of it."""
        self.lines = source_lines(source, keepends=True)
        self._starts = [0]
        for line in self.lines:
            self._starts.append(self._starts[-1] + len(line))

    def at(self, line: int, column: int) -> int:
        """The offset of a place that the tree gives; it counts columns in bytes."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return self._starts[line - 1] + (column if text.isascii() else len(text.encode()[:column].decode()))

    def span(self, node: ast.AST) -> tuple[int, int]:
        """First and last offset of a node."""
        return (
            self.at(node.lineno, node.col_offset),  # type: ignore[attr-defined]
            self.at(node.end_lineno, node.end_col_offset),  # type: ignore[attr-defined]
        )

    def of(self, node: ast.AST) -> str:
        """The node as it is written."""
        start, end = self.span(node)
        return self.source[start:end]

    def cut(self, node: ast.AST, text: str) -> Cut:
        """The edit that puts `text` where a node stands."""
        return (*self.span(node), text)

    def margin(self, node: ast.AST) -> str:
        """The white space that the node's first line begins with."""
        return re.match(r"[ \t]*", self.lines[node.lineno - 1])[0]  # type: ignore[attr-defined,index]

    def rows(self, first: ast.stmt, last: ast.stmt | None = None) -> tuple[int, int] | None:
        """Offsets of the whole lines of one or several statements; None where something else stands in them."""
        last = last or first
        top = min([first.lineno, *(one.lineno for one in getattr(first, "decorator_list", ()))])
        start, end = self._starts[top - 1], self._starts[last.end_lineno or last.lineno]
        before = self.source[start : self.span(first)[0] if top == first.lineno else start]
        behind = self.source[self.span(last)[1] : end].strip()
        return None if before.strip() or (behind and not behind.startswith("#")) else (start, end)

    def exchanged(self, old: Sequence[ast.stmt], new: Sequence[ast.stmt]) -> list[Cut]:
        """The edits that put each of the lines of `new` where one of `old` stands; [] where one shares its lines."""
        places = [(self.rows(one), self.rows(other)) for one, other in zip(old, new, strict=True)]
        pairs = [(here, there) for here, there in places if here and there]
        if len(pairs) < len(places) or any(not self.source[: there[1]].endswith("\n") for _, there in pairs):
            return []
        return [(*here, self.source[slice(*there)]) for here, there in pairs]

    def inserted(self, before: ast.stmt, text: str) -> Cut | None:
        """The edit that puts whole lines (without their margin) before a statement; None where it shares its line."""
        place = self.rows(before)
        if place is None:
            return None
        margin = self.margin(before)
        lines = "".join(f"{margin}{line}\n" if line else "\n" for line in text.split("\n"))
        return place[0], place[0], lines

    def edited(self, cuts: Iterable[Cut]) -> str | None:
        """The text with the edits made; None where there are none, or one touches another."""
        done, last, parts = sorted(cuts, key=lambda cut: cut[:2]), 0, []
        if not done:
            return None
        for start, end, text in done:
            if start < last:
                return None
            parts += [self.source[last:start], text]
            last = end
        changed = "".join([*parts, self.source[last:]])
        return changed if changed != self.source else None

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes but those inside f-strings, whose places Python 3.11 does not know."""
        return list(outside_strings(self.tree))

    @cached_property
    def words(self) -> set[str]:
        """Every word of the text, of comments and strings as well: a name that is none of them is new everywhere."""
        return set(re.findall(r"\w+", self.source))

    @cached_property
    def looks_up(self) -> bool:
        """Whether the text may find a name by its spelling, or binds one in a way that is not followed here."""
        return any(
            (isinstance(node, ast.Name) and node.id in _LOOKS_UP)
            or isinstance(node, ast.Global | ast.Nonlocal | ast.Match)
            or (isinstance(node, ast.alias) and node.name == "*")
            for node in ast.walk(self.tree)
        )

    def blocks(self) -> Iterator[Block]:
        """Every list of statements, outermost first."""
        for node in ast.walk(self.tree):
            for name in ("body", "orelse", "finalbody"):
                block = getattr(node, name, None)
                if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                    yield block

    def calls(self, name: str) -> list[ast.Call]:
        """Calls of what is written so, such as `F.relu`, outside f-strings."""
        return [node for node in self.nodes if isinstance(node, ast.Call) and dotted(node.func) == name]

    def imported(self, name: str, as_: str) -> bool:
        """Whether `as_` is the module, or what a module has, of that dotted name, and nothing else anywhere."""
        found = {
            alias.asname or alias.name: alias.name if isinstance(node, ast.Import) else f"{node.module}.{alias.name}"
            for node in self.tree.body
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        return found.get(as_) == name and not self.bound(as_)

    def bound(self, name: str) -> bool:
        """Whether anything but an import gives the name a value, in whatever scope."""
        return name in self._bound

    @cached_property
    def _bound(self) -> set[str]:
        found = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                found.add(node.id)
            elif isinstance(node, ast.arg):
                found.add(node.arg)
            elif not isinstance(node, ast.alias):
                found.add(getattr(node, "name", None))  # functions, classes, exceptions, captures
        return found - {None}

    def section(self, title: str) -> tuple[int, int]:
        """First line of a `# %% title` section and the line of the next one; (0, 0) where there is none."""
        marks = [number for number, line in enumerate(self.lines, 1) if line.startswith("# %%")]
        begin = next((n for n in marks if self.lines[n - 1].removeprefix("# %%").strip() == title), 0)
        return (begin, next((n for n in marks if n > begin), len(self.lines) + 1)) if begin else (0, 0)

    def fresh(self, names: Iterable[str]) -> str | None:
        """The first of some names that the text does not know."""
        return next((name for name in names if name not in self.words), None)


def outside_strings(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it, without what stands in f-strings."""
    yield node
    if not isinstance(node, ast.JoinedStr):
        for child in ast.iter_child_nodes(node):
            yield from outside_strings(child)


def dotted(node: ast.AST | None) -> str:
    """`torch.nn.Linear` as text; "" for what is no plain path of names."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (owner := dotted(node.value)):
        return f"{owner}.{node.attr}"
    return ""


def simple(node: ast.AST) -> bool:
    """Names, numbers, texts, attributes of these and tuples of them: to work one out does nothing else."""
    if isinstance(node, ast.Tuple | ast.List):
        return all(simple(one) for one in node.elts)
    if isinstance(node, ast.UnaryOp):
        return simple(node.operand)
    return isinstance(node, ast.Constant) or bool(dotted(node))


def assigns_a_name(node: ast.AST) -> TypeGuard[ast.Assign]:
    """`name = value`."""
    return isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)


def one_line(node: ast.stmt) -> bool:
    return node.lineno == node.end_lineno


def trains(node: ast.AST) -> bool:
    """Whether `.backward()` is called somewhere below."""
    return any(isinstance(one, ast.Attribute) and one.attr == "backward" for one in ast.walk(node))
