"""A fault that starts at some step, beyond the steps of the training: is it gone, or only postponed?

If a fault has a parameter `step`, the repair is run again as if that many steps had passed: its counters start there. So
a condition that this training would never reach is met. It is also run from the numbers in the repair's own text, as
`4400 <= step < 5000` is over at step 100000. These runs have the usual length and are judged by the fault's own evidence
only. A repair may count in another way. A program that cannot start later is trained for twice as long instead.
"""

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from bugzoo.diagnostics import instrument
from bugzoo.errors import UserError
from bugzoo.faults.evidence import parse as evidence
from bugzoo.faults.model import Fault
from bugzoo.grading.model import FOR_A_PERSON, Check
from bugzoo.grading.partial_credit import shows
from bugzoo.grading.symptoms import symptom
from bugzoo.running import Job, Run
from bugzoo.scenario import Scenario, with_settings
from bugzoo.syntax import parse

TRIGGER = "step"
"""Name of the fault parameter that gives its onset."""
LENGTH = ("epochs", "steps")
"""Settings for the length of the training. A program that starts later keeps them, as a condition may use them."""
FEW, MANY, MOST = 40, 10**7, 3
"""Range of the submission's own numbers from which to run again, and the most of them to try."""


def waiting(case: Scenario) -> list[Fault]:
    """Return the faults of a case that start after some steps."""
    return [fault for fault, _ in case.specs if TRIGGER in fault.params]


def put_off(job: Job, case: Scenario, run: Callable[[Job], Run]) -> list[Check]:
    """Run the submission's `job` from later steps on; returns nothing if no fault starts at a step.

    Raises RuntimeError if the machine fails.
    """
    faults = waiting(case)
    if not faults:
        return []
    first = int(max(fault.params[TRIGGER].high for fault in faults))
    named = {evidence(text).instrument for fault in faults for text in fault.evidence}
    live = any(instrument(name).COST > 0 for name in named if name not in ("outcome", "metrics"))
    passed = None
    for start in (first, *own_numbers(job.source, case.source)):
        for where, text in _texts(job.source, start, longer=start == first):
            found = run(replace(job, source=text, after=job.after if live else None, export=(), predict=()))
            if any(shows(fault, found.readings) for fault in faults):
                saw = f"The program was run again {where}. The original fault shows there. {_seen(named, found)}"
                wanted = "It should be gone at every step."
                return [Check("later steps", "wrong", saw, wanted, float(start), group="every_run")]
            if found.outcome == "finished" and len(found.trace.step):
                saw = f"The program was run again {where}. The original fault does not show there."
                passed = passed or Check("later steps", "passed", saw, "", 0.0, group="every_run")
                break
    if passed:
        return [passed]
    # a program that ends after so many steps, or is written in another way
    saw = "The program could not be run again as if more steps had passed, nor for twice as long."
    wanted = "It should count its steps as the program handed out."
    return [Check("later steps", FOR_A_PERSON, saw, wanted, group="every_run")]


def own_numbers(source: str, handed_out: str) -> list[int]:
    """Return whole numbers that the submission adds to the original text, as its own conditions may wait for them.

    They only say where to start another run; the run itself is judged. Only the largest few; `100 * 44` counts as one.
    """
    found = [_numbers(text) for text in (source, handed_out)]
    return sorted(found[0] - found[1], reverse=True)[:MOST]


def _numbers(source: str) -> set[int]:
    try:
        values = [_folded(node) for node in ast.walk(parse(source)) if isinstance(node, ast.Constant | ast.BinOp)]
    except (SyntaxError, RecursionError):
        return set()
    return {int(value) for value in values if value is not None and FEW < value <= MANY}


def _folded(node: ast.expr) -> float | None:
    """Return the value of a number, or of a sum or product of numbers."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in (ast.Add, ast.Mult):
        left, right = _folded(node.left), _folded(node.right)
        if left is not None and right is not None and max(abs(left), abs(right)) <= MANY:
            return left + right if isinstance(node.op, ast.Add) else left * right
    return None


def _seen(named: set[str], run: Run) -> str:
    read = sorted(name for name in named if name in run.readings and run.readings[name].applies)
    return " ".join(symptom(name, run.readings[name].numbers) for name in read) or f"The run ended as {run.outcome}."


def _texts(source: str, first: int, longer: bool) -> Iterator[tuple[str, str]]:
    """Yield (description, text), the most informative first. `longer`: also a training of twice the length."""
    behind = f"as if {first} steps had passed"
    try:
        for change in (("names", "lists", "loops"), ("names", "loops"), ("names",)):
            text = started_later(source, first, change)
            if text is not None:
                yield behind, text
    except (SyntaxError, RecursionError):
        return
    try:
        settings = _budget(source) if longer else {}
        if settings:
            yield "for twice as long", _with(source, settings)
    except SyntaxError:
        return


def _budget(source: str) -> dict[str, int]:
    """Return the program's settings for its length, doubled."""
    found = {}
    for node in parse(source).body:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and isinstance(node.value, ast.Constant)
        ):
            if node.targets[0].id in LENGTH and isinstance(node.value.value, int):
                found[node.targets[0].id] = 2 * node.value.value
    return found


def _with(source: str, settings: Mapping[str, int]) -> str:
    for name, value in settings.items():
        try:
            source = with_settings(source, {name: value}, "the program")
        except UserError:  # it has no such setting
            continue
    return source


def started_later(source: str, first: int, change: tuple[str, ...]) -> str | None:
    """Return `source` as if `first` steps had passed; None if nothing in it counts steps.

    names: variables that start at 0 and grow by 1; lists: lists that start empty and are appended to in the training
    loop; loops: the numbers of the `for` around `.backward()`. Raises SyntaxError.
    """
    tree = parse(source)
    mover = _Later(tree, first, change)
    tree = mover.visit(tree)
    return ast.unparse(ast.fix_missing_locations(tree)) if mover.moved else None


def _name(node: ast.AST) -> str:
    """Return `step` for `step`, `passes` for `self.passes`."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _is(node: ast.AST | None, value: int) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value == value


def _calls(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    return (n for n in ast.walk(tree) if isinstance(n, ast.Call) and _name(n.func) == name)


class _Later(ast.NodeTransformer):
    def __init__(self, tree: ast.AST, first: int, change: tuple[str, ...]) -> None:
        self.first, self.change, self.moved = first, change, False
        self.loops = [n for n in ast.walk(tree) if isinstance(n, ast.For) and any(_calls(n, "backward"))]
        self.counted, self.lists = set(), set()
        for node in ast.walk(tree):
            if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and _is(node.value, 1):
                self.counted.add(_name(node.target))
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp):
                added, name = node.value, _name(node.targets[0])
                if isinstance(added.op, ast.Add) and _is(added.right, 1) and _name(added.left) == name:
                    self.counted.add(name)
        for loop in self.loops:
            appended = (call.func for call in _calls(loop, "append"))
            self.lists |= {_name(f.value) for f in appended if isinstance(f, ast.Attribute)}

    def _begin(self, target: ast.AST, value: ast.expr) -> ast.expr:
        """Return the later initial value of a name."""
        if "names" in self.change and _name(target) in self.counted and _is(value, 0):
            self.moved = True
            return ast.Constant(self.first)
        if "lists" in self.change and _name(target) in self.lists and isinstance(value, ast.List) and not value.elts:
            self.moved = True
            return ast.BinOp(ast.List([ast.Constant(0.0)], ast.Load()), ast.Mult(), ast.Constant(self.first))
        return value

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                if len(target.elts) == len(node.value.elts):
                    pairs = zip(target.elts, node.value.elts, strict=True)
                    node.value.elts = [self._begin(name, value) for name, value in pairs]
            else:
                node.value = self._begin(target, node.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`getattr(self, "passes", 0) + 1` counts as well."""
        self.generic_visit(node)
        if "names" in self.change and _name(node.func) == "getattr" and len(node.args) == 3 and _is(node.args[2], 0):
            self.moved = True
            node.args[2] = ast.Constant(self.first)
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        training = node in self.loops
        self.generic_visit(node)
        called = node.iter
        if "loops" not in self.change or not training or not isinstance(called, ast.Call) or called.keywords:
            return node
        later = ast.Constant(self.first)
        if _name(called.func) == "range" and len(called.args) == 1:
            self.moved = True
            called.args = [later, ast.BinOp(later, ast.Add(), called.args[0])]
        elif _name(called.func) == "enumerate" and len(called.args) == 1:
            self.moved = True
            called.args = [*called.args, later]
        return node
