"""What grows from step to step in a program, read from its syntax tree: counters, containers, iterators and clocks.

A variable counts if its new value depends on what an earlier step left there. Whatever is computed from it, handed on or
returned counts too. What comes from the data or the model does not, and neither does what a decision has chosen.
"""

import ast
from collections.abc import Iterator

from bugzoo.grading.program_syntax import Syntax, Variable
from bugzoo.syntax import called, last_name

TRAINS = frozenset(("backward", "step", "grad"))
"""A loop that calls one of these, also through functions of its own, trains."""
NUMBERS = frozenset("range count trange arange linspace accumulate repeat".split())
MEMBERS = frozenset("iter cycle chain islice map filter zip reversed enumerate list tuple sorted tqdm".split())
"""Functions that return numbers in a row, and those that return the members of others."""
ENDS = (NUMBERS | MEMBERS) - frozenset("list tuple sorted range arange linspace tqdm trange".split())
"""Those of them that return iterators."""
GROWS = frozenset("append appendleft extend add insert update setdefault remove discard pop popleft popitem".split())
COUNTS = frozenset("add_ sub_ mul_ div_ fill_ copy_".split())
"""Methods that change a container in place, and those that change a tensor."""
CLOCKS = frozenset("time time_ns perf_counter monotonic process_time now today localtime strftime get_last_lr".split())
STATES = frozenset(("last_epoch", "_step_count", "num_batches_tracked", "state", "state_dict"))
"""Attributes in which torch counts steps; of the model, the last two hold data."""
DATA = frozenset(("grad", "data", "weight", "bias"))
"""Attributes that change at each step and hold data."""
ATTRIBUTE, RETURNED = ast.AST(), "return"
"""(ATTRIBUTE, name) is that attribute of any object, (a function, RETURNED) what it returns."""
CLOCK = ast.Call(ast.Attribute(ast.Constant(None), "time", ast.Load()), [], [])
Function = ast.FunctionDef | ast.Lambda
Pair = tuple[ast.expr, ast.expr]
Flow = tuple[Variable, ast.expr, ast.AST]
"""What gets a value, the value, and the node that does it."""


class Counters:
    """The variables, attributes and functions of a program that depend on how often something has run."""

    def __init__(self, program: Syntax) -> None:
        self.program, self.nodes = program, list(ast.walk(program.tree))
        self.scheduled = "lr_scheduler" in ast.dump(program.tree)
        self.keys = {node: self._key(node) for node in self.nodes}
        named = [(node.name, node) for node in self.nodes if isinstance(node, ast.FunctionDef)]
        named += [(name.id, value) for name, value in program.bindings() if isinstance(value, ast.Lambda)]
        self.functions = {name: [one for other, one in named if other == name] for name, _ in named}
        train = set(TRAINS)
        while more := {name for name, one in named if train & called(one)} - train:
            train |= more
        self.training = {node for node in self.nodes if train & called(node)}
        """What trains, whatever kind of node it is."""
        self.loops = {node for node in self.nodes if isinstance(node, ast.For | ast.While) and self._repeats(node)}
        """Loops that train, and those that yield."""
        self.flows = [flow for node in self.nodes for flow in self._flows(node)]
        self.counts: set[Variable | None] = set()
        self.sizes: set[Variable | None] = set()
        """Containers and iterators that grow or shrink: their first and last members are data."""
        self._known: dict[tuple[ast.AST, Variable], bool] = {}
        self._find_sources()
        self._spread()

    def depends(self, node: ast.AST) -> bool:
        """Return whether a value depends on a counter, a clock, or what is left in a container or an iterator."""
        key, parts = self.keys.get(node), list(ast.iter_child_nodes(node))
        if isinstance(node, ast.Subscript) and getattr(node.slice, "value", "") == "lr" and self.scheduled:
            return True
        if isinstance(node, ast.Subscript | ast.IfExp):
            ends = key in self.sizes - self.counts and ast.unparse(node).endswith(("[0]", "[-1]"))
            parts = [node.body, node.orelse] if isinstance(node, ast.IfExp) else [] if ends else [node.value]
        elif key in self.counts or key in self.sizes:
            return True
        elif (
            isinstance(node, ast.Attribute) and node.attr in STATES
        ):  # of the model, or a module's own, the state is data
            return not (node.attr.startswith("state") and last_name(node.value) in ("self", "model"))
        elif isinstance(node, ast.Call):
            name = last_name(node.func)
            if name == "model" or name in CLOCKS or any((one, RETURNED) in self.counts for one in self._callees(node)):
                return name != "model"
            if name == "next" and len(node.args) == 1:
                return self.numbered(node.args[0])
            if name in ("tqdm", "trange"):  # what it is told besides is only shown
                return any(map(self.depends, node.args[:1]))
            parts[0] = node.func if name in STATES else getattr(node.func, "value", node.func)
        return not isinstance(node, ast.Lambda) and any(map(self.depends, parts))

    def numbered(self, node: ast.expr, seen: frozenset[Variable | None] = frozenset()) -> bool:
        """Return whether the members of a value are numbers in a row, or listed in the text, and not data."""
        parts: list[ast.expr] = []
        if isinstance(node, ast.Call):
            name = last_name(node.func)
            if name in NUMBERS or (name not in MEMBERS and self.depends(node)):
                return True
            parts = node.args if name in MEMBERS else []
        elif isinstance(node, ast.Name) and (key := self.keys[node]) not in seen:
            if key in self.counts:
                return True
            parts, seen = [value for name, value, _ in self.flows if name == key], seen | {key}
        elif isinstance(node, ast.List | ast.Tuple | ast.ListComp | ast.GeneratorExp):
            parts = [*getattr(node, "elts", ()), *(one.iter for one in getattr(node, "generators", ()))]
        return isinstance(node, ast.BinOp | ast.Constant) or any(self.numbered(one, seen) for one in parts)

    def _repeats(self, node: ast.For | ast.While) -> bool:
        yields = any(isinstance(one, ast.Yield) for one in ast.walk(node))
        return yields or any(one in self.training for one in node.body)

    def _key(self, node: ast.AST) -> Variable | None:
        """Return which variable or attribute a node reads or changes, in itself or in a member of it."""
        while isinstance(node, ast.Subscript | ast.Starred):
            node = node.value
        if isinstance(node, ast.Call) and last_name(node.func) in ("getattr", "setattr") and len(node.args) > 1:
            return ATTRIBUTE, str(getattr(node.args[1], "value", ""))
        if isinstance(node, ast.Attribute) and node.attr not in DATA:
            return ATTRIBUTE, node.attr
        if not isinstance(node, ast.Name):
            return None
        around = [one for one in self.above(node) if isinstance(one, ast.expr) and node.id in _own(one)]
        return (around[0], node.id) if around else self.program.variable(node)

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield what a node stands in, from the inside."""
        while node is not self.program.tree:
            yield (node := self.program.parents[node])

    def _carried(self, node: ast.AST, key: Variable) -> bool:
        """Return whether `key`, read or changed at a node, may hold what an earlier step left there."""
        if (node, key) not in self._known:
            self._known[node, key] = False  # also while it is being found
            self._known[node, key] = self._is_carried(node, key)
        return self._known[node, key]

    def _is_carried(self, node: ast.AST, key: Variable) -> bool:
        below = node
        for above in self.above(node):
            for block in (getattr(above, name, ()) for name in ("body", "orelse", "finalbody")):
                before = block[: block.index(below)] if isinstance(block, list) and below in block else ()
                if any(self._renews(one, key) for one in before):
                    return False
            bound = ast.walk(above.target) if isinstance(above, ast.For) and below is not above.iter else ()
            if above is key[0] or key in map(self.keys.get, bound):
                return False
            if above in self.loops or isinstance(above, Function):
                return key[0] is ATTRIBUTE or key[0] in self.above(above)
            below = above
        return False

    def _renews(self, node: ast.stmt, key: Variable) -> bool:
        """Return whether a statement gives a variable a new value in any case, and not an old one."""
        if isinstance(node, ast.With):
            return any(self._renews(one, key) for one in node.body)
        if isinstance(node, ast.If):
            return all(any(self._renews(one, key) for one in block) for block in (node.body, node.orelse))
        values = [value for name, value, _ in self._flows(node) if name == key]
        if not values or not isinstance(node, ast.Assign | ast.AnnAssign) or key[0] is ATTRIBUTE:
            return False
        old = [one for value in values if isinstance(value, ast.Name | ast.Attribute) for one in ast.walk(value)]
        return not any(
            (name := self.keys.get(one)) and self._carried(node, name) for one in old if isinstance(one, ast.Name)
        )

    def _find_sources(self) -> None:
        reads = [(*flow, self._reads(flow[1])) for flow in self.flows]
        behind = {key: set[Variable]() for key, *_ in reads}
        inside = {node for node in self.nodes if node in self.loops or isinstance(node, Function)}
        again = {key for key, _, node in self.flows if not inside.isdisjoint(self.above(node))}
        for key, _, _, read in reads:
            behind[key] |= read
        for key, new in list(behind.items()):
            behind[key] = set()
            while new := new - behind[key]:
                behind[key] |= new
                new = {one for other in new for one in behind.get(other, ())}
        for key, value, node, read in reads:
            own = {one for one in read & again if one == key or key in behind.get(one, ())}
            row = isinstance(node, ast.For) and node in self.loops and self.numbered(value)
            if row or any(self._carried(node, one) for one in own):
                self.counts.add(key)
            made = isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name | ast.Attribute)
            if made and self._iterates(value) and self.loops.isdisjoint(self.above(node)):
                self.sizes.add(key)
        for node in self.nodes:
            if isinstance(node, ast.Call) and (node.args or "pop" in last_name(node.func)):
                self._find_changed(node)

    def _iterates(self, value: ast.expr) -> bool:
        """Return whether a value is an iterator, which ends."""
        name = last_name(value.func) if isinstance(value, ast.Call) else ""
        own = any(isinstance(one, ast.Yield) for function in self.functions.get(name, ()) for one in ast.walk(function))
        return own or name in ENDS or isinstance(value, ast.GeneratorExp)

    def _find_changed(self, call: ast.Call) -> None:
        """Note a container or tensor that a method changes in place, step by step."""
        name, key = last_name(call.func), self.keys.get(getattr(call.func, "value", call))
        handed = key and isinstance(key[0], Function) and key[1] in _parameters(key[0])
        if getattr(self.program.function(call), "name", "") == "__init__":  # once for each object
            return
        if key and name in GROWS | COUNTS and (handed or self._carried(call, key)):
            (self.sizes if name in GROWS else self.counts).add(key)

    def _reads(self, value: ast.AST) -> set[Variable]:
        """Return what a value reads, also in the functions that it calls; of these not their own variables."""
        found, reached, new = set[Variable](), set[ast.AST](), {value}
        while new := new - reached:
            nodes = [node for one in new for node in ast.walk(one)]
            found |= {key for node in nodes if (key := self.keys.get(node))}
            reached |= new
            new = {one for node in nodes if isinstance(node, ast.Call) for one in self._callees(node)}
        return {key for key in found if key[0] not in reached}

    def _spread(self) -> None:
        """Follow values to what they are bound to, and changed containers to their other names, until nothing is new."""
        before = -1
        while before != (before := len(self.counts) + len(self.sizes)):
            for key, value, _ in self.flows:
                pair = {key, self.keys.get(value)} if isinstance(value, ast.Name | ast.Attribute) else set()
                if pair & (self.sizes - self.counts):
                    self.sizes |= pair - {None}
                elif key not in self.counts and self.depends(value):
                    self.counts.add(key)

    def _callees(self, call: ast.Call) -> list[Function]:
        """Return the program's functions that a call may run; of an object its `forward` or `__call__`."""
        name, owner = last_name(call.func), getattr(call.func, "value", call.func)
        own = name in self.program.objects and (owner is call.func or last_name(owner) == "self")
        names = [name] if name in self.functions else ["__next__"] * (name == "next") + ["forward", "__call__"] * own
        return [function for one in names for function in self.functions.get(one, ())]

    def _flows(self, node: ast.AST) -> Iterator[Flow]:
        pairs: list[Pair] = []
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and node.value:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            pairs = [pair for one in targets for pair in _pairs(one, node.value)]
            pairs += [(node.target, node.target)] if isinstance(node, ast.AugAssign) else []
        elif isinstance(node, ast.For | ast.comprehension):
            pairs = list(_pairs(node.target, node.iter, members=True))
        elif isinstance(node, ast.Call):
            yield from ((key, value, node) for key, value in self._handed(node))
        elif isinstance(node, ast.Lambda):
            yield (node, RETURNED), node.body, node
        elif isinstance(node, ast.Return | ast.Yield | ast.YieldFrom) and node.value:
            yield (self.program.function(node), RETURNED), node.value, node
        for target, value in pairs:
            if key := self.keys[target]:
                yield key, value, node
                if isinstance(target, ast.Subscript):
                    yield key, target.slice, node

    def _handed(self, call: ast.Call) -> Iterator[tuple[Variable, ast.expr]]:
        """Yield what a call hands on: to the parameters of the program's functions, to attributes and into containers."""
        name, owner = last_name(call.func), getattr(call.func, "value", call.func)
        key = self.keys[call if name == "setattr" else owner] if name in GROWS | {"setattr"} else None
        pairs = [(key, value) for value in call.args[-1:] if key]
        for function in self._callees(call):
            pairs += [((function, own), value) for own, value in zip(_parameters(function), call.args, strict=False)]
            pairs += [((function, one.arg), one.value) for one in call.keywords if one.arg]
        yield from pairs
        for given in call.args if name in ("LambdaLR", "MultiplicativeLR") else ():  # torch hands the step on
            for one in [given] if isinstance(given, ast.Lambda) else self.functions.get(last_name(given), []):
                yield from (((one, own), CLOCK) for own in _parameters(one))


def _parameters(function: Function) -> list[str]:
    return [one.arg for one in function.args.args if one.arg not in ("self", "cls")]


def _own(node: ast.expr) -> list[str]:
    """Return the names that a lambda or a comprehension has for itself."""
    bound = [name for one in getattr(node, "generators", ()) for name in ast.walk(one.target)]
    return _parameters(node) if isinstance(node, ast.Lambda) else [one.id for one in bound if isinstance(one, ast.Name)]


def _pairs(target: ast.expr, value: ast.expr, members: bool = False) -> Iterator[Pair]:
    """Yield (name, value) of an assignment, or of a loop over `members`: of `enumerate` and `zip` each name its own."""
    name, args = (last_name(value.func), value.args) if members and isinstance(value, ast.Call) else ("", [])
    if not isinstance(target, ast.Tuple | ast.List):
        yield target, value
    elif name == "tqdm" and args:
        yield from _pairs(target, args[0], members)
    else:
        given = value.elts if not members and isinstance(value, ast.Tuple | ast.List) else args if name == "zip" else []
        given = [ast.Constant(0), args[0]] if name == "enumerate" and args else given
        given = given if len(given) == len(target.elts) else [value] * len(target.elts)
        for one, part in zip(target.elts, given, strict=True):
            yield from _pairs(one, part, members)
