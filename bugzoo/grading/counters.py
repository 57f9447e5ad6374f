"""What grows from step to step in a program, read from its syntax tree: counters, containers, iterators and clocks.

A variable counts if its new value depends on what an earlier step left there. Whatever is computed from it, handed on or
returned counts too. What comes from the data or the model does not, and neither does what a decision has chosen.
"""

import ast
from collections.abc import Iterator

import networkx as nx

from bugzoo.grading.program_syntax import Syntax, Variable
from bugzoo.syntax import called, last_name

TRAINS = frozenset(("backward", "step", "grad"))
"""A loop that calls one of these, also through functions of its own, trains."""
NUMBERS = frozenset("count accumulate repeat range trange arange linspace".split())
MEMBERS = frozenset("enumerate iter cycle chain islice map filter zip reversed list tuple sorted tqdm".split())
"""Functions that return numbers in a row, and those that return the members of others."""
CHANGES = "append extend add insert update setdefault remove discard pop popleft popitem add_ mul_ fill_".split()
"""Methods that change a container or a tensor in place."""
CLOCKS = "time time_ns perf_counter monotonic now today localtime".split()
CLOCKS += "StepLR MultiStepLR SequentialLR ConstantLR LambdaLR MultiplicativeLR".split()
CLOCKS += "get_last_lr last_epoch _step_count".split()
"""Functions that return a time, and what torch changes or counts by steps."""
DATA = ("grad", "data", "weight", "bias")
"""Attributes that change at each step and hold data."""
STORES = ast.Assign | ast.AnnAssign | ast.For
ATTRIBUTE = ast.AST()
"""(ATTRIBUTE, name) is that attribute of any object. A function's name stands for what it returns."""
Flow = tuple[Variable, ast.expr, ast.AST]
"""What gets a value, the value, and the node that does it: of a method that changes its object in place, the method."""


class Counters:
    """The variables, attributes and functions of a program that depend on how often something has run."""

    def __init__(self, program: Syntax) -> None:
        self.program, self.nodes = program, list(ast.walk(program.tree))
        self.keys = {node: self._key(node) for node in self.nodes}
        named = [(node.name, node) for node in self.nodes if isinstance(node, ast.FunctionDef)]
        named += [(name.id, value) for name, value in program.bindings() if isinstance(value, ast.Lambda)]
        named += [(ast.unparse(node), node) for node in self.nodes if isinstance(node, ast.Lambda)]
        self.functions = {name: [function for other, function in named if other == name] for name, _ in named}
        self.trains = set(TRAINS)
        while more := {name for name, function in named if self.trains & called(function)} - self.trains:
            self.trains |= more
        yields = {above for node in self.nodes if isinstance(node, ast.Yield) for above in self.above(node)}
        trains = {node for node in self.nodes if self.trains & called(node)}
        self.loops = {node for node in yields | trains if isinstance(node, ast.For | ast.While)}
        """Loops that train, and those that yield."""
        self.repeated = self.loops | {node for _, node in named}
        self.flows = [flow for node in self.nodes for flow in self._flows(node)]
        self.counts: set[Variable | None] = set()
        self.rows: set[Variable | None] = set()
        """Containers and iterators of numbers in a row, or of what is listed in the text."""
        self._find_sources()
        self._spread()

    def depends(self, node: ast.AST) -> bool:
        """Return whether a value depends on a counter, a clock, or what is left in a container or an iterator."""
        name, parts = last_name(getattr(node, "func", node)), [*ast.iter_child_nodes(node)]
        if isinstance(node, ast.Subscript):  # torch counts in `state["step"]`, and schedules change `group["lr"]`
            text, index = ast.unparse(node), getattr(node.slice, "value", "")
            return index in ("step", "lr") or (not text.endswith("[-1]") and self.depends(node.value))
        if self.keys.get(node) in self.counts or (isinstance(node, ast.Call | ast.Attribute) and name in CLOCKS):
            return True
        if isinstance(node, ast.Call):
            if name == "next" and len(node.args) == 1:
                return self.row(node.args[0]) or (ATTRIBUTE, "__next__") in self.counts
            parts = [] if name == "model" else node.args[:1] if name == "tqdm" else parts
        return any(map(self.depends, parts[isinstance(node, ast.IfExp) :]))

    def row(self, node: ast.AST) -> bool:
        """Return whether the members of a value are numbers in a row, or listed in the text, and not data."""
        if isinstance(node, ast.Call):
            name = last_name(node.func)
            return name in NUMBERS or (any(map(self.row, node.args)) if name in MEMBERS else self.depends(node))
        parts = [*getattr(node, "elts", ()), *(generator.iter for generator in getattr(node, "generators", ()))]
        listed = isinstance(node, ast.BinOp | ast.Constant) or self.keys.get(node) in self.rows
        return listed or any(map(self.row, parts))

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield what a node stands in, from the inside."""
        while node is not self.program.tree:
            yield (node := self.program.parents[node])

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
        for above in self.above(node):  # a comprehension has names of its own
            if any(node.id in map(last_name, ast.walk(clause.target)) for clause in getattr(above, "generators", ())):
                return above, node.id
        return self.program.variable(node)

    def _find_sources(self) -> None:
        """Find what one step leaves for the next: values that read themselves."""
        reads = [(*flow, {self.keys.get(node) for node in ast.walk(flow[1])} - {None}) for flow in self.flows]
        again = {key for key, _, node in self.flows if not self.repeated.isdisjoint(self.above(node))}
        graph = nx.DiGraph([(key, variable) for key, *_, read in reads for variable in read])
        cycles = {key: cycle & again for cycle in nx.strongly_connected_components(graph) for key in cycle}
        for key, _, node, read in reads:
            cycle = cycles.get(key, set())
            place = next((above for above in self.above(node) if above in self.repeated), None)
            if place is None or cycle.isdisjoint(read) or getattr(place, "name", "") == "__init__":
                continue
            in_place = isinstance(node, ast.expr) and not isinstance(node, ast.Call)
            stores = [(at, value) for other, value, at, new in reads if other in cycle and cycle.isdisjoint(new)]
            stores = [
                at for at, value in stores if isinstance(at, STORES) and not (in_place and isinstance(value, ast.Name))
            ]
            always = [at for at in stores if not isinstance(self.program.parents[at], ast.If | ast.Try)]
            lasts = key[0] is ATTRIBUTE or key[0] in self.above(place) or (in_place and key[0] is place)
            if lasts and not any(place in (at, *self.above(at)) for at in always):
                self.counts.add(key)

    def _spread(self) -> None:
        """Follow values to what they are bound to, and changed containers to their other names, until nothing is new."""
        before = -1
        while before != (before := len(self.counts) + len(self.rows)):
            for key, value, node in self.flows:
                if self.depends(value) or (node in self.loops and self.row(value)):
                    self.counts.add(key)
                if key in self.counts and isinstance(value, ast.Name):
                    self.counts.add(self.keys[value])
                if self.row(value):
                    self.rows.add(key)

    def _flows(self, node: ast.AST) -> Iterator[Flow]:
        pairs: list[tuple[ast.expr, ast.expr]] = []
        match node:
            case ast.Assign():
                pairs = [pair for left in node.targets for pair in _pairs(left, node.value)]
            case ast.AugAssign():
                pairs = [(node.target, value) for value in (node.value, node.target)]
            case ast.AnnAssign(value=ast.expr() as value) | ast.NamedExpr(value=value):
                pairs = [(node.target, value)]
            case ast.For() | ast.comprehension():
                pairs = [*_pairs(node.target, node.iter, members=True)]
            case ast.Call():
                yield from self._handed(node)
            case ast.Return() | ast.Yield() | ast.YieldFrom() if node.value:
                function = self.program.function(node)
                method = isinstance(self.program.parents.get(function), ast.ClassDef)
                yield (ATTRIBUTE if method else self.program.tree, getattr(function, "name", "")), node.value, node
        for target, value in pairs:
            if key := self.keys[target]:
                yield key, value, node

    def _handed(self, call: ast.Call) -> Iterator[Flow]:
        """Yield what a call hands on: to parameters of the program's functions, to attributes and into containers."""
        name, owner = last_name(call.func), getattr(call.func, "value", call.func)
        changed = call.args[0] if name == "next" and call.args else owner if name in CHANGES else call
        if key := self.keys[changed]:
            yield from ((key, value, call.func) for value in (changed, *call.args[-1:]))
        through = name in self.program.objects and (owner is call.func or last_name(owner) == "self")
        names = [name] if name in self.functions else ["forward", "__call__"] * through
        names, values = ([*map(ast.unparse, call.args)], [call]) if name.endswith("LR") else (names, call.args)
        for function in (function for one in names for function in self.functions.get(one, ())):
            parameters = [one.arg for one in function.args.args if one.arg not in ("self", "cls")]
            bindings = [*zip(parameters, values, strict=False), *((one.arg, one.value) for one in call.keywords)]
            scope = self.program.function(function.args)
            yield from (((scope, parameter), value, call) for parameter, value in bindings if parameter)


def _pairs(target: ast.expr, value: ast.expr, members: bool = False) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield (name, value) of an assignment, or of a loop over `members`: of `enumerate` and `zip` each name its own."""
    name, args = (last_name(value.func), value.args) if members and isinstance(value, ast.Call) else ("", [])
    if name == "tqdm" and args:
        yield from _pairs(target, args[0], members)
    elif isinstance(target, ast.Tuple | ast.List):
        literal = [] if members else getattr(value, "elts", [])
        parts = {"zip": args, "enumerate": [ast.Constant(0), *args[:1]]}.get(name, literal)
        parts = parts if len(parts) == len(target.elts) else [value] * len(target.elts)
        for member, part in zip(target.elts, parts, strict=True):
            yield from _pairs(member, part, members)
    else:
        yield target, value
