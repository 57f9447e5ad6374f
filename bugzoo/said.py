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
    nodes = [node for construct in body for node in ast.walk(construct)]
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    if not any(_name(call) in SAYS for call in calls):
        return set()
    parts: dict[ast.AST, list[ast.AST]] = {}

    def within(text: ast.AST) -> list[ast.AST]:
        if text not in parts:
            parts[text] = list(ast.walk(text))
        return parts[text]

    functions = [_Function(node) for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    names = Counter(construct.name for construct in functions)
    while True:  # every variable counts as a text until another use of it is found
        # a name of two functions is ambiguous
        passed_on = {construct.name: construct.places() for construct in functions if names[construct.name] == 1}
        messages: set[ast.AST] = {text for call in calls for text in _texts(call, passed_on)}
        messages |= {value for construct in functions for name in construct.texts for value in construct.values[name]}
        messages = {text for text in messages if not any(isinstance(node, _BINDING) for node in within(text))}
        inside = {node for construct in messages for node in within(construct)}
        if not any([construct.keep(inside) for construct in functions]):
            return messages


class _Function:
    """One function, its variables, and which of them may be message texts."""

    def __init__(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.name, self.parameters = node.name, [child.arg for child in node.args.args]
        self.uses: dict[str, list[ast.AST]] = defaultdict(list)
        self.values: dict[str, list[ast.expr]] = defaultdict(list)
        plain, other = set[ast.AST](), set[str]()
        stored: list[ast.Name] = []
        for child in ast.walk(node):
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load):
                self.uses[child.id].append(child)
            elif isinstance(child, ast.Name):
                stored.append(child)
            elif isinstance(child, ast.Global | ast.Nonlocal):
                other |= set(child.names)
            elif isinstance(child, ast.Assign | ast.AugAssign | ast.AnnAssign) and child.value is not None:
                targets = child.targets if isinstance(child, ast.Assign) else [child.target]
                if len(targets) == 1 and isinstance(targets[0], ast.Name):
                    plain.add(targets[0])
                    self.values[targets[0].id].append(child.value)
        other |= {child.id for child in stored if child not in plain}  # of a loop, a `with`, a tuple
        self.texts = {name for name in {*self.values, *self.parameters} - other if self.uses[name]}

    def places(self) -> tuple[int, ...]:
        """Return the positions of arguments that are used only as texts."""
        return tuple(place for place, name in enumerate(self.parameters) if name in self.texts)

    def keep(self, inside: Set[ast.AST]) -> bool:
        """Drop variables that are used outside texts. Returns True if there were some."""
        texts = {name for name in self.texts if all(use in inside for use in self.uses[name])}
        before, self.texts = self.texts, texts
        return texts != before


def _name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def _texts(call: ast.Call, passed_on: dict[str, tuple[int, ...]]) -> Iterator[ast.expr]:
    """Yield the texts among the arguments of a call."""
    by_name, name = isinstance(call.func, ast.Name), _name(call)
    places = SAYS.get(name) or (passed_on.get(name, ()) if by_name else ())
    if any(isinstance(argument, ast.Starred) for argument in call.args):  # positions are not known
        return
    yield from (call.args[place] for place in places if place < len(call.args))
    if name in SAYS:
        yield from (argument.value for argument in call.keywords if argument.arg in WORDS)
