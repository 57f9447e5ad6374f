"""How a piece of a program runs, by the syntax tree: under which conditions it stands, and what becomes of its value.

A piece that keeps its text may stand in code that never runs, or its effect may be overwritten. So its place is compared with
the place that it has in another program: no further condition, loop or jump may stand before it, what it binds may not be
bound more often, its value has to reach the same calls, and a call of its own stays between the same two calls.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from bugzoo.grading.loop_body import GRADIENTS
from bugzoo.grading.program_syntax import Syntax
from bugzoo.syntax import called, last_name

LOOPS = (ast.For, ast.AsyncFor, ast.While)
TURNS = (
    *LOOPS, ast.If, ast.IfExp, ast.Try, ast.Match, ast.BoolOp, ast.Assert, ast.Lambda,
    ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
)  # fmt: skip
"""What may run its parts never, or more often."""
JUMPS = {ast.Continue: LOOPS, ast.Break: LOOPS, ast.Return: (ast.FunctionDef,)}
"""A jump -> what it leaves. What is raised ends the run, and a run that does not finish is judged by that."""


@dataclass(frozen=True)
class Way:
    """How one node of a program runs."""

    turns: Counter[str]
    """What stands around it or jumps before it, by kind, and how often its statement's names are bound."""
    reaches: frozenset[str]
    """Calls that get its value, by their last names."""
    before: tuple[str, ...] = ()
    """The calls before a call that is a statement, as the program has them; empty for any other node."""
    after: tuple[str, ...] = ()

    def as_in(self, usual: "Way") -> bool:
        """Return whether the node runs as often as one does whose way is the `usual` one, and reaches as much."""
        return not self.turns - usual.turns and usual.reaches <= self.reaches

    def stays(self, usual: "Way") -> bool:
        """Return whether neither of the two calls between which it stood has come to its other side."""
        last, first = {*usual.before[-1:]}, {*usual.after[:1]}
        near = [next((name for name in names if name in last | first), "") for names in (self.before[::-1], self.after)]
        return near[0] not in first - last and near[1] not in last - first


def way(program: Syntax, node: ast.AST) -> Way:
    """Return how a node of a program runs."""
    around = list(_around(program, node))
    statement = program.statement(node)
    turns = Counter(type(one).__name__ for one in around if isinstance(one, TURNS))
    turns.update(type(jump).__name__ for jump in _jumps(program, node, around))
    turns["never called"] = sum(isinstance(one, ast.FunctionDef) and one.name not in _loaded(program) for one in around)
    bound = _names(statement, ast.Store)
    stored = Counter(
        one.id for one in ast.walk(program.tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    )
    turns["bound"] = max((stored[name] for name in bound), default=0)
    calls = [one for one in ast.walk(program.tree) if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)]
    reached = _reached(program, bound)
    reaches = {_last(call) for call in calls if _names(call, ast.Load) & reached} - program.own
    trains = [one for one in ast.walk(program.tree) if isinstance(one, ast.stmt) and called(one) & GRADIENTS]
    if any(_names(one, ast.Load) & reached for one in trains):
        reaches = reaches - GRADIENTS | {"gradients"}
    places = sorted(calls, key=_place)
    at = next((at for at, call in enumerate(places) if call is statement), None)
    if at is None:
        return Way(turns, frozenset(reaches))
    names = [_last(call) for call in places]
    return Way(turns, frozenset(reaches), tuple(names[:at]), tuple(names[at + 1 :]))


def _last(call: ast.Expr) -> str:
    assert isinstance(call.value, ast.Call)
    return last_name(call.value.func)


def _around(program: Syntax, node: ast.AST) -> Iterator[ast.AST]:
    while node is not program.tree:
        node = program.parents[node]
        yield node


def _jumps(program: Syntax, node: ast.AST, around: list[ast.AST]) -> Iterator[ast.AST]:
    """Yield the jumps before a node that leave a loop or a function in which it stands."""
    for jump in ast.walk(program.tree):
        if type(jump) in JUMPS and _place(jump) < _place(node):
            left = (one for one in _around(program, jump) if isinstance(one, JUMPS[type(jump)]))
            if next(left, program.tree) in (*around, program.tree):
                yield jump


def _place(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _loaded(program: Syntax) -> set[str]:
    """Return the names that a program reads, and the methods that torch and Python call by themselves."""
    named = {last_name(one) for one in ast.walk(program.tree) if isinstance(one, ast.Name | ast.Attribute)}
    return named | {"forward", "__init__", "__getitem__", "__len__", "__iter__", "__call__"}


def _names(node: ast.AST, context: type[ast.expr_context]) -> set[str]:
    """Return the names that a statement binds or reads itself; those of statements within it are left out."""
    parts = [
        node,
        *(part for one in ast.iter_child_nodes(node) if not isinstance(one, ast.stmt) for part in ast.walk(one)),
    ]
    return {one.id for one in parts if isinstance(one, ast.Name) and isinstance(one.ctx, context)}


def _reached(program: Syntax, names: set[str]) -> set[str]:
    """Return the names into which these names' values go, from one assignment to the next."""
    flows = [
        (_names(one, ast.Load), _names(one, ast.Store)) for one in ast.walk(program.tree) if isinstance(one, ast.stmt)
    ]
    reached = set(names)
    while more := set().union(*(bound for read, bound in flows if read & reached)) - reached:
        reached |= more
    return reached
