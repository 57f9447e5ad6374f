"""How a piece of a program runs, by the syntax tree.

A piece that keeps its text may stand in code that never runs, or its value may be overwritten or not used. So what decides
whether it runs and what becomes of it is counted, and compared with what stands around it in another program.
"""

import ast
from collections import Counter
from collections.abc import Iterator

from bugzoo.grading.loop_body import GRADIENTS
from bugzoo.grading.program_syntax import Syntax
from bugzoo.syntax import called, last_name

LOOPS = (ast.For, ast.While)
TURNS = (
    *LOOPS, ast.If, ast.IfExp, ast.Try, ast.Match, ast.BoolOp, ast.Assert, ast.Lambda,
    ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
)  # fmt: skip
"""What may run its parts never, or more often."""
JUMPS = {ast.Continue: LOOPS, ast.Break: LOOPS, ast.Return: (ast.FunctionDef,)}
"""A jump -> what it leaves. What is raised ends the run, and a run that does not finish is judged by that."""


def way(program: Syntax, node: ast.AST) -> Counter[str]:
    """Return the conditions, loops and jumps that a node depends on, by kind, and what keeps its value from being used.

    A piece runs as in another program if it has nothing here that it does not have there as often.
    """
    nodes, around, statement = list(ast.walk(program.tree)), list(_around(program, node)), program.statement(node)
    turns = Counter(type(part).__name__ for part in around if isinstance(part, TURNS))
    turns.update(type(jump).__name__ for jump in _jumps(nodes, program, node))
    named = {last_name(part) for part in nodes if isinstance(part, ast.Name | ast.Attribute)} | {"forward"}
    functions = [part.name for part in around if isinstance(part, ast.FunctionDef)]
    turns["never called"] = sum(name not in named and not name.startswith("__") for name in functions)
    stored = Counter(part.id for part in nodes if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))
    turns["bound"] = max((stored[name] for name in _names(statement, ast.Store)), default=0)
    simple = [part for part in nodes if isinstance(part, ast.stmt) and not hasattr(part, "body")]
    backward = [part for part in simple if called(part) & GRADIENTS]
    flows = [(_names(part, ast.Load), _names(part, ast.Store)) for part in nodes if isinstance(part, ast.stmt)]
    reached = _names(statement, ast.Store)
    while more := {name for read, bound in flows if read & reached for name in bound} - reached:
        reached |= more
    turns["not in the gradients"] = not any(_names(part, ast.Load) & reached for part in backward)
    if isinstance(statement, ast.Expr):  # a call, which has its place between the gradients and the step
        turns["before the gradients"] = any(_place(statement) < _place(part) for part in backward)
        turns["after a step"] = any(_place(part) < _place(statement) for part in simple if "step" in called(part))
    return turns


def _around(program: Syntax, node: ast.AST) -> Iterator[ast.AST]:
    while node is not program.tree:
        node = program.parents[node]
        yield node


def _jumps(nodes: list[ast.AST], program: Syntax, node: ast.AST) -> Iterator[ast.AST]:
    """Yield the jumps before a node that leave a loop or a function in which it stands."""
    around = [*_around(program, node), program.tree]
    for jump in nodes:
        if type(jump) in JUMPS and _place(jump) < _place(node):
            left = (block for block in _around(program, jump) if isinstance(block, JUMPS[type(jump)]))
            if next(left, program.tree) in around:
                yield jump


def _place(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _names(node: ast.AST, context: type[ast.expr_context]) -> set[str]:
    """Return the names that a statement binds or reads itself; those of statements within it are left out."""
    inner = [part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.stmt)]
    parts = [piece for part in inner for piece in ast.walk(part)]
    return {piece.id for piece in (node, *parts) if isinstance(piece, ast.Name) and isinstance(piece.ctx, context)}
