"""The decisions of a submission that wait for something: a counter, a clock, the step.

A wrong repair may keep its fault behind `if step >= 44_000_000`, `losses[5000:]` or an iterator that runs out, and no
training gets there. Nothing here says whether such a text is right: a person looks at it. Decisions that the healthy text
or the text handed out makes in the same form are no news, and neither is what only tells or ends the training.
"""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from bugzoo.grading.counters import CLOCK, GROWS, Counters
from bugzoo.grading.program_syntax import Syntax
from bugzoo.syntax import last_name, source_lines

CHOOSE = frozenset(
    "min max int bool round abs divmod fmod remainder pow any all next get index sign clamp clamp_ clip where relu relu6 "
    "hardtanh threshold heaviside floor ceil trunc exp sigmoid tanh softplus softmax logsumexp maximum minimum fmax fmin amax "
    "amin argmax argmin sorted sort topk searchsorted bucketize digitize interp select choose piecewise isclose equal eq ne "
    "lt le gt ge logical_and logical_or logical_not isin setdefault pop startswith endswith find narrow islice takewhile "
    "dropwhile filter compress".split()
)
"""Functions whose outcome may change once an argument has grown."""
STEEP = (ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr, ast.BitXor)
SWITCHES = frozenset(("StepLR", "MultiStepLR", "SequentialLR", "ConstantLR"))
"""Schedules that change the learning rate at a step of their own."""
TELLS = frozenset(
    "print info debug warning warn error write log add_scalar set_postfix set_description plot show title savefig".split()
)
PURE = TELLS | frozenset(
    "len sum float int str round max min abs zip range enumerate list item mean norm std sqrt exp format join detach cpu "
    "numpy tolist clone argmax size isfinite parameters named_parameters get_last_lr time perf_counter no_grad".split()
)
"""Functions that change nothing in the training; the first of them tell."""


@dataclass(frozen=True)
class Decision:
    """A decision that waits: its line, from 1, the line's text, and why a person looks at it."""

    line: int
    text: str
    reason: str = "what it decides depends on a counter, a clock or the step"

    def __str__(self) -> str:
        return f"line {self.line}, `{self.text[:80]}`: {self.reason}"


def waiting(source: str, known: Sequence[str]) -> Decision | None:
    """Return the first decision of `source` that depends on a counter, a clock or the step; None if it has none.

    Decisions of the `known` texts are left out, each as often as it stands in one of them. Raises SyntaxError for a text that
    is not Python, and ValueError for one with null bytes.
    """
    usual: Counter[str] = Counter()
    try:
        for text in known:
            usual |= Counter(form for _, form in _forms(text))
        for line, form in _forms(source):
            usual[form] -= 1
            if usual[form] < 0:
                return Decision(line, source_lines(source)[line - 1].strip())
    except RecursionError:
        return Decision(1, source_lines(source)[0].strip(), "the program is nested too deeply to be read")
    return None


@lru_cache(maxsize=64)
def _forms(source: str) -> list[tuple[int, str]]:
    """Return (line, form) of each decision that waits, by line."""
    reader = _Reader(Syntax(source))
    return sorted((line, reader.form(node)) for node, line in dict(reader.decisions()).items())


class _Reader:
    def __init__(self, program: Syntax) -> None:
        self.program, self.counters = program, Counters(program)
        self.nodes, self.key = self.counters.nodes, self.counters.keys.get
        loops = [node for node in self.nodes if node in self.counters.loops]
        loops = [node for node in loops if not self.counters.loops & {*self.counters.above(node)}]
        self.training = min(loops, key=lambda node: program.function(node) is not program.tree, default=None)
        """The first loop that trains, and stands in no other: its own end is the training's."""
        self.single = len(loops) == 1
        bound = {key for key, *_ in self.counters.flows}
        bound |= {(program.tree, node.asname) for node in self.nodes if isinstance(node, ast.alias)}
        calls = [node.func for node in self.nodes if isinstance(node, ast.Call)]
        own = {last_name(node) for node in calls if self.key(node) in bound} | {*self.counters.functions}
        self.pure, self.tells = PURE - own, TELLS - own
        self.catches = any(map(self._catches, self.nodes))
        names = [node for node in self.nodes if isinstance(node, ast.Name)]
        self.told = {self.key(node) for node in names if node.id not in ("model", "metrics")}
        """Variables that are read only to tell something."""
        read = [node for node in names if isinstance(node.ctx, ast.Load)]
        while used := self.told & {self.key(node) for node in read if not self._tells(program.statement(node))}:
            self.told -= used

    def decisions(self) -> Iterator[tuple[ast.AST, int]]:
        """Yield each expression that decides by a counter, with its line."""
        for node, one in ((whole, part) for whole in self.nodes for part in self._deciding(whole)):
            statement = self.program.statement(node) if self.counters.depends(one) else self.training
            if statement is not self.training and not self._tells(statement):
                yield one, getattr(one, "lineno", getattr(statement, "lineno", 1))

    def form(self, node: ast.AST) -> str:
        """Return the form of a decision, with those of the statements that set the counters in it; words do not count."""
        counters = {self.key(one) for one in ast.walk(node)} & self.counters.counts
        setting = {self.program.statement(one) for key, _, one in self.counters.flows if key in counters}
        loops = [one.iter if isinstance(one, ast.For) else one for one in setting]
        words = {one for one in loops for part in ast.walk(one) if isinstance(getattr(part, "value", None), str)}
        return " ".join([self.program.form(node), *sorted(map(self.program.form, {*loops} - words))])

    def _deciding(self, node: ast.AST) -> Sequence[ast.AST]:
        """Return the parts of a node that decide what is computed, or whether."""
        if isinstance(node, ast.If | ast.IfExp | ast.While | ast.Assert):
            return [node.test]
        if isinstance(node, ast.Compare | ast.BoolOp) or (
            isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
        ):
            return [node]
        if isinstance(node, ast.BinOp) and isinstance(node.op, STEEP):
            return () if isinstance(getattr(node.left, "value", None), str) else [node]
        if isinstance(node, ast.For | ast.comprehension):
            return [node.iter] if isinstance(node, ast.For) else node.ifs
        if isinstance(node, ast.Match):
            return [node.subject, *(case.guard for case in node.cases if case.guard)]
        if isinstance(node, ast.Subscript):
            return [node.slice]
        if isinstance(node, ast.Try | ast.With):
            return list(_raising(node.body)) if self._catches(node) else ()
        name = last_name(node.func) if isinstance(node, ast.Call) else ""
        if name in SWITCHES and isinstance(self.program.parents[node], ast.Assign):
            return [CLOCK]
        if isinstance(node, ast.Call) and name in CHOOSE:
            return node.args if name == "next" and len(node.args) > 1 else [node]
        return ()

    def _catches(self, node: ast.AST) -> bool:
        """Return whether the program goes on in its own way after an error in a block."""
        if isinstance(node, ast.With):
            names = {last_name(getattr(one.context_expr, "func", one.context_expr)) for one in node.items}
            return "suppress" in names or "__exit__" in self.counters.functions
        handlers = [one for one in getattr(node, "handlers", ()) if not isinstance(one.body[-1], ast.Raise)]
        return any(one.type is None or last_name(one.type) != "KeyboardInterrupt" for one in handlers)

    def _tells(self, node: ast.AST | None) -> bool:
        """Return whether a statement only tells, keeps what is only told, or ends the program or the training."""
        if isinstance(node, ast.If | ast.For | ast.With):
            inner = [*node.body, *getattr(node, "orelse", ())]
            return all(map(self._tells, inner)) and all(
                self._pure(one) for one in ast.iter_child_nodes(node) if one not in inner
            )
        if isinstance(node, ast.Pass | ast.Break):
            return isinstance(node, ast.Pass) or self._ends(node)
        if isinstance(node, ast.Raise | ast.Assert):
            return not self.catches and self._pure(getattr(node, "test", None))
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            targets = [one for one in ast.walk(node) if isinstance(getattr(one, "ctx", None), ast.Store)]
            return {self.key(one) for one in targets} <= self.told and self._pure(node.value)
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
            return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        call, name = node.value, last_name(node.value.func)
        tells = name in self.tells or (name in GROWS and self.key(getattr(call.func, "value", call)) in self.told)
        return tells and all(map(self._pure, (*call.args, *call.keywords)))

    def _pure(self, node: ast.AST | None) -> bool:
        """Return whether computing a value changes nothing."""
        inner = list(ast.walk(node)) if node else []
        calls = {last_name(one.func) for one in inner if isinstance(one, ast.Call)}
        return calls <= self.pure and not any(isinstance(one, ast.NamedExpr) for one in inner)

    def _ends(self, node: ast.AST) -> bool:
        """Return whether a `break` ends the training: in the only loop that trains, or in one that has trained before it."""
        below = node
        while not isinstance(node, ast.For | ast.While):
            below, node = node, self.program.parents[node]
        before = node.body[: next((at for at, one in enumerate(node.body) if one is below), 0)]
        return (node is self.training and self.single) or bool(self.counters.training & {*before})


def _raising(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """Yield what raises an error once a counter has grown, or an iterator has ended."""
    for node in (one for statement in body for one in ast.walk(statement)):
        if isinstance(node, ast.Subscript | ast.BinOp):
            yield node
        elif isinstance(node, ast.Call) and last_name(node.func) in ("next", "pop", "popleft", "remove", "index"):
            yield from (node.func, *node.args)
