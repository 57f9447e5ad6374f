"""Find expressions that are only messages to a person: rewording them changes no result.

They are the texts of a `Verdict`, a `Suspect`, an `Alarm`, a `Check` or an error. Local variables and arguments of the module's
own functions count too, if they hold nothing but such a text.
"""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence, Set

SAYS: dict[str, tuple[int, ...]] = {
    "Verdict": (2,),
    "Suspect": (2,),
    "Check": (2, 3),
    "Alarm": (1, 2),
    "UserError": (0,),
    "NotApplicable": (0,),
    "RuntimeError": (0,),
}
"""Callable -> positions of the text arguments."""
WORDS = {"message", "reason", "saw", "passes", "expected"}
"""The same arguments, by name."""
_BINDING = ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom
"""An expression with one of these does more than build a text."""


def said(body: Sequence[ast.stmt]) -> set[ast.AST]:
    """Return the outermost message expressions in these statements of one module."""
    nodes = [node for one in body for node in ast.walk(one)]
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    if not any(_name(call) in SAYS for call in calls):
        return set()
    parts: dict[ast.AST, list[ast.AST]] = {}

    def within(text: ast.AST) -> list[ast.AST]:
        if text not in parts:
            parts[text] = list(ast.walk(text))
        return parts[text]

    functions = [_Function(node) for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    names = Counter(one.name for one in functions)
    while True:  # every variable counts as a text until another use of it is found
        passed_on = {one.name: one.places() for one in functions if names[one.name] == 1}  # else it is ambiguous
        found: set[ast.AST] = {text for call in calls for text in _texts(call, passed_on)}
        found |= {value for one in functions for name in one.texts for value in one.values[name]}
        found = {one for one in found if not any(isinstance(node, _BINDING) for node in within(one))}
        inside = {node for one in found for node in within(one)}
        if not any([one.keep(inside) for one in functions]):
            return found


class _Function:
    """One function, its variables, and which of them may be message texts."""

    def __init__(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.name, self.parameters = node.name, [one.arg for one in node.args.args]
        self.uses: dict[str, list[ast.AST]] = defaultdict(list)
        self.values: dict[str, list[ast.expr]] = defaultdict(list)
        plain, other = set[ast.AST](), set[str]()
        stored: list[ast.Name] = []
        for one in ast.walk(node):
            if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load):
                self.uses[one.id].append(one)
            elif isinstance(one, ast.Name):
                stored.append(one)
            elif isinstance(one, ast.Global | ast.Nonlocal):
                other |= set(one.names)
            elif isinstance(one, ast.Assign | ast.AugAssign | ast.AnnAssign) and one.value is not None:
                targets = one.targets if isinstance(one, ast.Assign) else [one.target]
                if len(targets) == 1 and isinstance(targets[0], ast.Name):
                    plain.add(targets[0])
                    self.values[targets[0].id].append(one.value)
        other |= {one.id for one in stored if one not in plain}  # of a loop, a `with`, a tuple
        self.texts = {name for name in {*self.values, *self.parameters} - other if self.uses[name]}

    def places(self) -> tuple[int, ...]:
        """Return the positions of arguments that are used only as texts."""
        return tuple(place for place, name in enumerate(self.parameters) if name in self.texts)

    def keep(self, inside: Set[ast.AST]) -> bool:
        """Drop variables that are used outside texts. Returns True if there were some."""
        kept = {name for name in self.texts if all(use in inside for use in self.uses[name])}
        before, self.texts = self.texts, kept
        return kept != before


def _name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def _texts(call: ast.Call, passed_on: dict[str, tuple[int, ...]]) -> Iterator[ast.expr]:
    """Yield the texts among the arguments of a call."""
    own, name = isinstance(call.func, ast.Name), _name(call)
    places = SAYS.get(name) or (passed_on.get(name, ()) if own else ())
    if any(isinstance(one, ast.Starred) for one in call.args):  # positions are not known
        return
    yield from (call.args[place] for place in places if place < len(call.args))
    if name in SAYS:
        yield from (one.value for one in call.keywords if one.arg in WORDS)
