"""Which names of the top level does a piece of it need, set, and leave to what comes behind?

For a piece that is to become a function. Conservative: what cannot be told is refused (None), not guessed.
"""

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from bugzoo.dialects._scopes import KEPT, scopes_of
from bugzoo.dialects._text import Text

_REFUSED = (
    *(ast.Return, ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom),
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Delete, ast.Try, ast.Match, ast.NamedExpr),
    *(ast.JoinedStr, ast.AsyncFor, ast.AsyncWith),
)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


@dataclass(frozen=True)
class Flow:
    """`stored`: names that the piece gives a value to, in order; `needed`: those whose earlier value it may read;
    `left`: those that somebody behind it may read; `read`: every name of the top level that it reads."""

    stored: tuple[str, ...]
    needed: tuple[str, ...]
    left: tuple[str, ...]
    read: tuple[str, ...]


class Reader:
    """Walks statements in the order in which they run; `early` are names that may be read before they are set."""

    def __init__(self, names: set[str] | None = None) -> None:
        self.names = names
        self.early: list[str] = []
        self.jumps = False
        """A `break`, `continue` or `return` was met: what is set behind it may not be set."""

    def expression(self, node: ast.AST | None, sure: set[str]) -> None:
        for one in ast.walk(node) if node else ():
            if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load):
                if one.id not in sure and (self.names is None or one.id in self.names):
                    self.early.append(one.id)

    def block(self, body: Iterable[ast.stmt], sure: set[str]) -> set[str]:
        """The names that are set for sure behind these statements; `sure` are those before."""
        for node in body:
            sure = self.statement(node, sure)
        return sure

    def statement(self, node: ast.stmt, sure: set[str]) -> set[str]:
        if isinstance(node, ast.If):
            self.expression(node.test, sure)
            return self.block(node.body, set(sure)) & self.block(node.orelse, set(sure))
        if isinstance(node, ast.For | ast.While):
            self.expression(node.iter if isinstance(node, ast.For) else node.test, sure)
            inner = sure | _targets(node.target) if isinstance(node, ast.For) else set(sure)
            self.block(node.body, inner)
            self.block(node.orelse, set(sure))
            return sure
        if isinstance(node, ast.With):
            for item in node.items:
                self.expression(item.context_expr, sure)
                sure = sure | (_targets(item.optional_vars) if item.optional_vars else set())
            return self.block(node.body, sure)
        if isinstance(node, ast.Try):
            for part in (node.body, *(one.body for one in node.handlers), node.orelse, node.finalbody):
                self.block(part, set(sure))
            return sure
        if isinstance(node, _SCOPES):  # what a function reads counts where it stands, as it may be called at once
            self.expression(node, sure)
            return sure
        if isinstance(node, ast.Break | ast.Continue | ast.Return | ast.Raise):
            self.jumps = True
        if isinstance(node, ast.AugAssign):
            self.expression(node.value, sure)
            for name in _targets(node.target):
                self.early += [name] if name not in sure and (self.names is None or name in self.names) else []
        self.expression(node, sure)
        if isinstance(node, ast.Assign):
            return sure.union(*map(_targets, node.targets))
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            return sure | _targets(node.target)
        return sure | _targets(node.target) if isinstance(node, ast.AugAssign) else sure


def _targets(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def way_to(tree: ast.Module, first: ast.stmt) -> list[tuple[ast.AST, list[ast.stmt], int]]:
    """(owner, block, place in it) from the top level down to a statement; [] where a function lies between."""

    def down(owner: ast.AST, body: list[ast.stmt]) -> list[tuple[ast.AST, list[ast.stmt], int]]:
        for place, node in enumerate(body):
            if node is first:
                return [(owner, body, place)]
            blocks = ("body", "orelse") if isinstance(node, ast.If) else ("body",)
            for name in blocks if isinstance(node, ast.If | ast.For | ast.While | ast.With) else ():
                if found := down(node, getattr(node, name, None) or []):
                    return [(owner, body, place), *found]
        return []

    return down(tree, tree.body)


def flow(text: Text, piece: list[ast.stmt]) -> Flow | None:
    """The names of statements in a row, at the top level or in its loops; None where they cannot become a function."""
    way = way_to(text.tree, piece[0])
    nodes = [one for part in piece for one in ast.walk(part)]
    if text.looks_up or not way or any(isinstance(one, _REFUSED) for one in nodes) or _leaves(piece):
        return None
    scopes, ids = scopes_of(text), {id(one) for one in nodes}
    ours = [use for use in scopes.uses if id(use.node) in ids and scopes.owner(use) is scopes.module]
    stored = list(dict.fromkeys(use.name for use in ours if isinstance(getattr(use.node, "ctx", None), ast.Store)))
    # a function of the script sees the top level's names: what it uses cannot become a local one
    for use in scopes.uses:
        if use.name in stored and scopes.owner(use) is scopes.module and _in_function(use.scope):
            return None
    names = set(stored)
    inside = Reader(names)
    sure = inside.block(piece, set())
    before, behind = _before(way), _behind(text.tree, way, len(piece), names)
    left = [name for name in stored if name in behind or name in KEPT]
    needed = [name for name in stored if name in inside.early or (name in left and name not in sure)]
    if not set(needed) <= before:
        return None
    read = dict.fromkeys(use.name for use in ours if isinstance(getattr(use.node, "ctx", None), ast.Load))
    return Flow(tuple(stored), tuple(needed), tuple(left), tuple(read))


def _in_function(scope: object) -> bool:
    while scope is not None:
        if isinstance(scope.node, _SCOPES):  # type: ignore[attr-defined]
            return True
        scope = scope.parent  # type: ignore[attr-defined]
    return False


def _leaves(piece: list[ast.stmt]) -> bool:
    """Whether a `break` or `continue` leads out of the piece."""

    def out(node: ast.AST, loops: int) -> bool:
        if isinstance(node, ast.Break | ast.Continue):
            return not loops
        more = isinstance(node, ast.For | ast.While)
        return any(out(one, loops + more) for one in ast.iter_child_nodes(node))

    return any(out(node, 0) for node in piece)


def _before(way: list[tuple[ast.AST, list[ast.stmt], int]]) -> set[str]:
    """Names that are set for sure when the piece begins."""
    sure: set[str] = set()
    for owner, body, place in way:
        if isinstance(owner, ast.For):
            sure |= _targets(owner.target)
        if isinstance(owner, ast.With):
            sure = sure.union(*(_targets(item.optional_vars) for item in owner.items if item.optional_vars))
        sure = Reader().block(body[:place], sure)
    return sure


def _behind(tree: ast.Module, way: list[tuple[ast.AST, list[ast.stmt], int]], length: int, names: set[str]) -> set[str]:
    """Names of `names` whose value somebody may read when the piece is done."""
    found, sure = set(), set()
    for depth in range(len(way) - 1, -1, -1):
        owner, body, place = way[depth]
        reader = Reader(names)
        set_here = reader.block(body[place + (length if depth == len(way) - 1 else 1) :], set(sure))
        found |= set(reader.early)
        sure = sure if reader.jumps else set_here
        if isinstance(owner, ast.For | ast.While):  # the next turn of the loop
            again, start = Reader(names), set(sure)
            if isinstance(owner, ast.While):
                again.expression(owner.test, start)
            else:
                start |= _targets(owner.target)
            again.block(body, start)
            found |= set(again.early)
    return found
