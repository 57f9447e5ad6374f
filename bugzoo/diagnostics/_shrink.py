"""The shortest script of which something stays true: statements are left out, first many at once, then single ones.

Delta debugging over the syntax tree (Zeller and Hildebrandt, 2002; a level of the tree at a time: Misherghi and Su, 2006).
Several shorter scripts are tested at once, so that all cores are busy.
"""

import ast
import builtins
import copy
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from bugzoo.syntax import parse

Ask = Callable[[list[str]], list[bool]]
"""Does each of these scripts still show it?"""
_BLOCKS = ("body", "orelse", "finalbody", "handlers")
_LENGTHS = ("epoch", "step", "iter", "max_it", "updates", "rounds")


@dataclass
class Shrinker:
    """`ask` says which scripts still show it; `told(tries, lines)` gets the progress; `at_once` scripts are tested together."""

    ask: Ask
    told: Callable[[int, int], None] = lambda tries, lines: None
    at_once: int = 2
    until: float = float("inf")
    """On the clock of `time.monotonic`: no script is tested after it."""
    tries: int = 0
    known: dict[str, bool] = field(default_factory=dict)

    def shrink(self, source: str) -> str:
        """The shortest script that was found, unparsed from its tree, without comments. Raises SyntaxError for invalid Python."""
        tree = parse(source)
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
                node.body = node.body[1:] or [ast.Pass()]
        tree = self._first(iter([tree])) or parse(source)
        tree = self._shorter_runs(tree)
        before = ""
        while ast.unparse(tree) != before and time.monotonic() < self.until:
            before = ast.unparse(tree)
            tree = self._unwrapped(self._without(tree))
        return ast.unparse(tree) + "\n"

    def _first(self, candidates: Iterator[ast.Module], than: ast.Module | None = None) -> ast.Module | None:
        """The first candidate that still shows it and is shorter `than` another tree."""
        most = len(ast.unparse(than)) if than is not None else float("inf")
        waiting: list[tuple[str, ast.Module]] = []
        for tree in candidates:
            if time.monotonic() > self.until:
                return None
            text = ast.unparse(tree)
            if self.known.get(text) is False or len(text) >= most or not _whole(tree):
                continue
            waiting.append((text, tree))
            if len(waiting) == self.at_once and (shorter := self._asked(waiting)):
                return shorter
        return self._asked(waiting)

    def _asked(self, waiting: list[tuple[str, ast.Module]]) -> ast.Module | None:
        answers = self.ask([text for text, _ in waiting]) if waiting else []
        self.tries += len(answers)
        shorter = None
        for (text, tree), right in zip(waiting, answers, strict=True):
            self.known[text] = right
            shorter = tree if shorter is None and right else shorter
        waiting.clear()
        if shorter is not None:
            self.told(self.tries, len(ast.unparse(shorter).splitlines()))
        return shorter

    def _shorter_runs(self, tree: ast.Module) -> ast.Module:
        """Fewer epochs and steps, so that every later try is quicker."""
        for place, value in _lengths(tree):
            for smaller in sorted({1, 2, value // 10, value // 3} - {0, value}):
                if smaller < value and (shorter := self._first(iter([_with_number(tree, place, smaller)]))):
                    tree = shorter
                    break
        return tree

    def _without(self, tree: ast.Module) -> ast.Module:
        """Fewer statements, block by block, the outer ones first; chunks of a half, a quarter, ... of a block."""
        place = 0
        while place < len(_blocks(tree)):
            size = len(_blocks(tree)[place])
            while size and place < len(_blocks(tree)):
                starts = reversed(range(0, len(_blocks(tree)[place]), size))
                shorter = self._first((_left_out(tree, place, start, size) for start in starts), than=tree)
                tree, size = (shorter, size) if shorter is not None else (tree, size // 2)
            place += 1
        return tree

    def _unwrapped(self, tree: ast.Module) -> ast.Module:
        """The body of a block that is not needed, such as `if` or `with`, replaces that block."""
        while (shorter := self._first(_hoisted(tree), than=tree)) is not None:
            tree = shorter
        return tree


def _blocks(tree: ast.AST) -> list[list[ast.stmt]]:
    """Every list of statements, outer ones before those inside them."""
    waiting, blocks = [tree], []
    while waiting:
        node = waiting.pop(0)
        for name in _BLOCKS:
            block = getattr(node, name, None)
            if isinstance(block, list) and block:
                blocks.append(block)
                waiting += block
    return blocks


def _left_out(tree: ast.Module, place: int, start: int, size: int) -> ast.Module:
    """A copy without some statements of one block; `pass` where it would be empty."""
    clone = copy.deepcopy(tree)
    block = _blocks(clone)[place]
    del block[start : start + size]
    if not block and clone.body is not block:
        block.append(ast.Pass())
    return clone


def _hoisted(tree: ast.Module) -> Iterator[ast.Module]:
    count = sum(len(block) for block in _blocks(tree))
    for number in range(count):
        clone, before = copy.deepcopy(tree), 0
        for block in _blocks(clone):
            if number < before + len(block):
                node = block[number - before]
                if isinstance(node, ast.If | ast.With | ast.For | ast.While | ast.Try):
                    block[number - before : number - before + 1] = node.body
                    yield clone
                break
            before += len(block)


def _lengths(tree: ast.Module) -> list[tuple[int, int]]:
    """(place of the constant in the tree, value) of numbers that look like epochs or steps."""
    constants = [node for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    nodes = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and any(
            isinstance(leaf, ast.Name) and leaf.id.lower().startswith(_LENGTHS) for leaf in node.targets
        ):
            nodes.append(node.value)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "range":
            nodes += node.args
    return [
        (constants.index(leaf), leaf.value)
        for leaf in nodes
        if isinstance(leaf, ast.Constant) and isinstance(leaf.value, int) and leaf.value > 1
    ]


def _with_number(tree: ast.Module, place: int, value: int) -> ast.Module:
    clone = copy.deepcopy(tree)
    [node for node in ast.walk(clone) if isinstance(node, ast.Constant)][place].value = value
    return clone


def _whole(tree: ast.Module) -> bool:
    """Is every name that is read bound somewhere? A script with an unbound name need not run to be rejected."""
    bound = set(dir(builtins)) | {"__file__"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.alias):
            if node.name == "*":
                return True
            bound.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            bound.add(node.name)
        elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            bound.add(node.name)
    return all(node.id in bound for node in ast.walk(tree) if isinstance(node, ast.Name))
