"""Find the decisions that a submission has and the healthy program does not, and write them as calls.

A decision is a comparison, a whole division, a look into a table by `get`, or a call of `min`, `max`, `int`, `bool` or
`round`. Written as
`compared(0, (">=",), step, 4400)` it can be answered as if `step` had grown further (`running.decisions`).
"""

import ast
from collections import Counter

from bugzoo.syntax import called, parse

SIGNS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Eq: "==", ast.NotEq: "!=", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
CHOOSE = ("min", "max", "int", "bool", "round")
"""Functions whose outcome may change once their argument has grown."""
GET = 2
"""Most arguments of `table.get(key, default)`."""
TRAINS = frozenset(("backward", "step", "grad"))
"""A loop whose body calls one of these trains; its own end is no decision of this kind."""
NAME = "bugzoo_decisions"


def rewritten(source: str, known: tuple[str, ...], total: int, stretch: int = 1, start: int = 0) -> str | None:
    """Return `source` with its own decisions as calls; None if it has none. Those of the `known` texts stay as they are.

    `total`, `stretch` and `start` go to `decisions.begin`. Raises SyntaxError for a text that is not Python.
    """
    usual = Counter(ast.dump(node) for text in known for node in ast.walk(parse(text)) if _kind(node))
    tree = parse(source)
    writer = _Writer(usual)
    writer.visit(tree)
    if not writer.places:
        return None
    begin = parse(f"from bugzoo.running import decisions as {NAME}\n{NAME}.begin({total}, {stretch}, {start})").body
    first = next((at for at, node in enumerate(tree.body) if not _leads(node)), len(tree.body))
    tree.body[first:first] = begin
    return ast.unparse(ast.fix_missing_locations(tree))


def _leads(node: ast.stmt) -> bool:
    """Return whether a statement has to stay before all others: the docstring, and `from __future__ import`."""
    text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return text or (isinstance(node, ast.ImportFrom) and node.module == "__future__")


def _kind(node: ast.AST) -> str:
    """Return which function stands for a node; "" if it is no decision."""
    if isinstance(node, ast.Compare) and all(type(op) in SIGNS for op in node.ops):
        return "compared"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
        return "divided"
    if not isinstance(node, ast.Call) or not node.args or node.keywords:
        return ""
    if any(isinstance(arg, ast.Starred) for arg in node.args):
        return ""
    if isinstance(node.func, ast.Attribute):
        return "looked_up" if node.func.attr == "get" and len(node.args) <= GET else ""
    return "called" if isinstance(node.func, ast.Name) and node.func.id in CHOOSE else ""


class _Writer(ast.NodeTransformer):
    def __init__(self, usual: Counter[str]) -> None:
        self.usual, self.places = usual, 0

    def visit(self, node: ast.AST) -> ast.AST:
        own = _kind(node) if isinstance(node, ast.expr) and ast.dump(node) not in self.usual else ""
        node = super().visit(node)
        return self._call(own, node) if own else node

    def visit_While(self, node: ast.While) -> ast.AST:
        """A loop that trains ends where it ends."""
        return self._body(node) if TRAINS & called(ast.Module(node.body, [])) else self.generic_visit(node)

    def visit_For(self, node: ast.For) -> ast.AST:
        return self._body(node) if TRAINS & called(ast.Module(node.body, [])) else self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node  # what is only printed

    def _body(self, node: ast.While | ast.For) -> ast.AST:
        node.body = [self.visit(one) for one in node.body]  # pyright: ignore
        return node

    def _call(self, kind: str, node: ast.AST) -> ast.AST:
        place = ast.Constant(self.places)
        self.places += 1
        if isinstance(node, ast.Compare):
            signs = ast.Tuple([ast.Constant(SIGNS[type(op)]) for op in node.ops], ast.Load())
            args: list[ast.expr] = [signs, node.left, *node.comparators]
        elif isinstance(node, ast.BinOp):
            args = [node.left, node.right]
        else:
            assert isinstance(node, ast.Call)
            table = kind == "looked_up" and isinstance(node.func, ast.Attribute) and node.func.value
            args = [table or node.func, *node.args]
        function = ast.Attribute(ast.Name(NAME, ast.Load()), kind, ast.Load())
        return ast.Call(function, [place, *args], [])
