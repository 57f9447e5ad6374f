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
from textwrap import shorten
from typing import TypeGuard

from bugzoo.grading.counters import CHANGES, Counters
from bugzoo.grading.program_syntax import Syntax
from bugzoo.syntax import called, last_name, source_lines

CHOOSE = frozenset(
    "min max int bool round abs fmod remainder pow any all next get index sign clamp clamp_ clip where relu threshold floor "
    "ceil trunc exp sigmoid tanh softplus softmax maximum minimum argmax argmin sorted sort topk searchsorted isclose equal "
    "setdefault pop startswith endswith islice takewhile filter StepLR MultiStepLR SequentialLR ConstantLR".split()
)
"""Functions whose outcome may change once an argument has grown, and schedules that change the rate at a step."""
QUIET = frozenset(
    "print info debug warning error log add_scalar set_postfix set_description save state_dict "
    "plot scatter bar hist imshow show title savefig figure subplots gca gcf close clf cla xlabel ylabel legend grid "
    "tight_layout set_title set_xlabel set_ylabel len sum float int str "
    "round max min abs zip range enumerate list item mean norm std sqrt exp format join detach cpu numpy tolist clone argmax "
    "isfinite parameters named_parameters get_last_lr time perf_counter no_grad".split()
)
"""Functions that only tell, or change nothing at all."""
SMOOTH = ast.Add | ast.Sub | ast.Mult | ast.Div | ast.MatMult | ast.USub
ACTS = ast.Return | ast.Yield | ast.Continue | ast.Delete | ast.While | ast.Match | ast.NamedExpr
RAISES = ("next", "pop", "popleft", "remove", "index")


@dataclass(frozen=True)
class Decision:
    """A decision that waits: its line, from 1, the line's text, and why a person looks at it."""

    line: int
    text: str
    reason: str = "what it decides depends on a counter, a clock or the step"

    def __str__(self) -> str:
        return f"line {self.line}, `{shorten(self.text, 80, placeholder=' ...')}`: {self.reason}"


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
        self.training = next((node for node in self.nodes if node in self.counters.loops), None)
        """The outermost loop that trains: its own end is the training's."""
        bound = {key for key, *_ in self.counters.flows}
        bound |= {(program.tree, node.asname) for node in self.nodes if isinstance(node, ast.alias)}
        calls = {node.func for node in self.nodes if isinstance(node, ast.Call) and self.key(node.func) in bound}
        self.quiet = QUIET - {*map(last_name, calls)} - {*self.counters.functions}
        self.catches = any(map(self._catches, self.nodes))
        names = [node for node in self.nodes if isinstance(node, ast.Name)]
        self.told = {self.key(node) for node in names if node.id not in ("model", "metrics")}
        """Variables that are read only to tell something."""
        read = [node for node in names if isinstance(node.ctx, ast.Load)]
        while used := self.told & {self.key(node) for node in read if self._acts(program.statement(node))}:
            self.told -= used

    def decisions(self) -> Iterator[tuple[ast.AST, int]]:
        """Yield each expression that decides by a counter, with its line."""
        for node, part in ((whole, part) for whole in self.nodes for part in self._deciding(whole)):
            statement = self.program.statement(node)
            ends = isinstance(node, ast.For) and bool(node.orelse) and self.counters.row(part)
            if (ends or self.counters.depends(part)) and statement is not self.training and self._acts(statement):
                yield part, getattr(part, "lineno", getattr(statement, "lineno", 1))

    def form(self, node: ast.AST) -> str:
        """Return the form of a decision, with those of the statements that set the counters in it; words do not count."""
        counters = {self.key(piece) for piece in ast.walk(node)} & self.counters.counts
        setting = {self.program.statement(piece) for key, _, piece in self.counters.flows if key in counters}
        loops = [piece.iter if isinstance(piece, ast.For) else piece for piece in setting]
        words = {piece for piece in loops for part in ast.walk(piece) if isinstance(getattr(part, "value", None), str)}
        return " ".join([self.program.form(node), *sorted(map(self.program.form, {*loops} - words))])

    def _deciding(self, node: ast.AST) -> Sequence[ast.AST]:
        """Return the parts of a node that decide what is computed, or whether."""
        parts = [getattr(node, name) for name in ("test", "slice", "subject") if hasattr(node, name)]
        parts += [node.iter] if isinstance(node, ast.For) else getattr(node, "ifs", [])
        sharp = isinstance(node, ast.BinOp | ast.BoolOp | ast.UnaryOp) and not isinstance(node.op, SMOOTH)
        if isinstance(node, ast.Compare) or sharp or (isinstance(node, ast.Call) and last_name(node.func) in CHOOSE):
            parts.append(node)
        if self._catches(node):
            inner = [part for statement in node.body for part in ast.walk(statement)]
            raises = [part for part in inner if last_name(getattr(part, "func", part)) in RAISES]
            parts += [*raises, *(part for part in inner if isinstance(part, ast.Subscript | ast.BinOp))]
        return parts

    def _catches(self, node: ast.AST) -> TypeGuard[ast.Try | ast.With]:
        """Return whether the program goes on in its own way after an error in a block."""
        if isinstance(node, ast.With):
            return "suppress" in map(last_name, ast.walk(node))
        handlers = [handler for handler in getattr(node, "handlers", ()) if not isinstance(handler.body[-1], ast.Raise)]
        return any(handler.type is None or last_name(handler.type) != "KeyboardInterrupt" for handler in handlers)

    def _acts(self, node: ast.AST) -> bool:
        """Return whether a statement does more than tell, keep what is only told, or end the program or the training."""
        return any(map(self._acts_itself, ast.walk(node)))

    def _acts_itself(self, node: ast.AST) -> bool:
        match node:
            case ast.Call():
                records = last_name(node.func) in CHANGES and self.key(getattr(node.func, "value", node)) in self.told
                raised = isinstance(self.program.parents[node], ast.Raise)
                return not (records or raised or last_name(node.func) in self.quiet)
            case ast.Name() | ast.Attribute() | ast.Subscript() if not isinstance(node.ctx, ast.Load):
                return self.key(node) not in self.told and not isinstance(self.program.parents[node], ast.For)
            case ast.Expr():
                return not isinstance(node.value, ast.Call | ast.Constant)
            case ast.Raise() | ast.Assert():
                return self.catches
            case ast.Break():
                loop = next(piece for piece in self.counters.above(node) if isinstance(piece, ast.For | ast.While))
                before = [piece for piece in loop.body if piece.lineno < node.lineno and node not in ast.walk(piece)]
                return loop is not self.training and not any(self.counters.trains & called(piece) for piece in before)
        return isinstance(node, ACTS)
