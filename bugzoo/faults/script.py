"""What can be asked of a training script's text: its calls, what a pattern matches, where a node stands.

Offsets count characters, lines from 1. Nothing here knows a fault.
"""

import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

from ast_grep_py import SgNode, SgRoot

_META = re.compile(r"\$\$\$([A-Z_][A-Z0-9_]*)?|\$([A-Z_][A-Z0-9_]*)")
_BACKWARD = re.compile(r"(.*\.)?(manual_)?backward", re.DOTALL)
_QUIET = re.compile(r"no_grad|inference_mode|set_grad_enabled\(False")
_JUDGING = re.compile(
    r"(^|_)(eval|evaluate|evaluation|val|valid|validate|validation|test|predict|infer|inference|sample)(_|$)"
)
LOOPS = ("for_statement", "while_statement")


@dataclass(frozen=True)
class Piece:
    """A part of the text: what one metavariable holds."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Place:
    """One match of an idiom or a pattern. `node` is the syntax node, `statement` the one that it belongs to."""

    start: int
    end: int
    line: int
    end_line: int
    pieces: Mapping[str, Piece]
    node: SgNode = field(compare=False, repr=False)
    left: str = ""
    """What is left of it when it is removed from within an expression, such as `$MODEL` of `$MODEL.eval()`."""

    def names(self) -> dict[str, str]:
        """What the metavariables hold, name -> text."""
        return {name: piece.text for name, piece in self.pieces.items()}


@dataclass(frozen=True)
class Called:
    """One call: the text of its function and its arguments as (keyword or None, value)."""

    node: SgNode = field(compare=False, repr=False)
    function: Piece
    arguments: tuple[tuple[str | None, Piece], ...]
    inside: Piece
    """Everything between the parentheses."""


def piece(node: SgNode) -> Piece:
    """The text range of a node."""
    span = node.range()
    return Piece(span.start.index, span.end.index, node.text())


def fill(pattern: str, names: Mapping[str, str]) -> str:
    """`pattern` with the metavariables that are known replaced by their text."""
    return _META.sub(lambda m: names.get(m[1] or m[2] or "", m[0]), pattern)


def metavariables(text: str) -> set[str]:
    """Names of the metavariables in a pattern or a replacement."""
    return {many or single for many, single in _META.findall(text)} - {""}


def statements(pattern: str) -> list[str]:
    """The statements of a pattern of several lines, each one pattern of its own."""
    # Python has no `$` in names, and takes no `$$$REST` behind a keyword; ast-grep's own parser does
    pattern = textwrap.dedent(pattern).strip()
    tree = SgRoot(pattern.replace("$", "µ"), "python").root()
    return [pattern[(r := node.range()).start.index : r.end.index] for node in tree.children()]


def statement(node: SgNode) -> SgNode:
    """The statement that a node belongs to: the one of its ancestors that stands in a block."""
    for candidate in (node, *node.ancestors()):
        parent = candidate.parent()
        if parent is None or parent.kind() in ("module", "block"):
            return candidate
    return node


@lru_cache(maxsize=64)
def read(source: str) -> "Script":
    """The Script of a text; the latest are kept, as every fault asks for the same ones."""
    return Script(source)


class Script:
    """One text and its syntax tree."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._root = SgRoot(source, "python")
        self.root = self._root.root()
        self.found: dict[Any, list[Place]] = {}
        """What idioms have found."""
        self._patterns: dict[tuple[str, tuple[str, ...]], list[Place]] = {}

    @cached_property
    def calls(self) -> list[Called]:
        """Every call, in order."""
        return [called for node in self.root.find_all(kind="call") if (called := _called(node)) is not None]

    def place(self, node: SgNode, pieces: Mapping[str, Piece], last: SgNode | None = None, left: str = "") -> Place:
        """A match; `last` is the last of several statements. `PLACE` and `RESULT` are added to its metavariables."""
        begin, stop = node.range().start, (last or node).range().end
        named = dict(pieces)
        named["PLACE"] = Piece(begin.index, stop.index, self.source[begin.index : stop.index])
        if (result := _result(node)) is not None:
            named.setdefault("RESULT", piece(result))
        if (instance := _own(node)) is not None:
            named["SELF"] = instance
        return Place(begin.index, stop.index, begin.line + 1, stop.line + 1, named, node, left)

    def pattern(self, text: str, where: tuple[str, ...] = ()) -> list[Place]:
        """Every place where a pattern (one statement, or several in a row) matches, in order."""
        key = (text, where)
        if key not in self._patterns:
            self._patterns[key] = self._match(text, where)
        return self._patterns[key]

    def anywhere(self, pattern: str, names: Mapping[str, str]) -> bool:
        """Whether a pattern matches somewhere with these metavariables."""
        return bool(self.pattern(fill(pattern, names)))

    def _match(self, text: str, where: tuple[str, ...]) -> list[Place]:
        first, *rest = statements(text)
        places: dict[tuple[int, int], Place] = {}
        for node in self.root.find_all(pattern=first):
            pieces, last = self._capture(node, first), node
            if rest:
                last = _whole(node)
            for pattern in rest:
                filled = fill(pattern, {name: capture.text for name, capture in pieces.items()})
                following: SgNode | None = last.next()
                while following is not None and following.kind() == "comment":
                    following = following.next()
                if following is None:
                    break
                begin = following.range().start.index  # the statement itself, or the expression that it wraps
                hit = next((n for n in following.find_all(pattern=filled) if n.range().start.index == begin), None)
                if hit is None:
                    break
                pieces |= self._capture(hit, filled)
                last = following
            else:
                names = {name: capture.text for name, capture in pieces.items()}
                if all(self.root.find(pattern=fill(pattern, names)) is not None for pattern in where):
                    place = self.place(node, pieces, last)
                    places[place.start, place.end] = place
        return [places[key] for key in sorted(places)]

    def _capture(self, node: SgNode, pattern: str) -> dict[str, Piece]:
        pieces = {}
        for many, single in _META.findall(pattern):
            if single and (got := node.get_match(single)) is not None:
                pieces[single] = piece(got)
            if many:
                got_many = node.get_multiple_matches(many)
                # from first to last, so that commas, line breaks and comments between them stay
                start = got_many[0].range().start.index if got_many else 0
                end = got_many[-1].range().end.index if got_many else 0
                pieces[many] = Piece(start, end, self.source[start:end])
        return pieces

    @cached_property
    def _backwards(self) -> list[int]:
        return [c.function.start for c in self.calls if _BACKWARD.fullmatch(c.function.text)]

    def trains(self, node: SgNode) -> bool:
        """Whether a node stands in the loop, or the function, that calls backward()."""
        for ancestor in node.ancestors():
            if ancestor.kind() in (*LOOPS, "function_definition", "module"):
                span = ancestor.range()
                if any(span.start.index <= place < span.end.index for place in self._backwards):
                    return True
                if ancestor.kind() == "function_definition":
                    return False
        return False

    def evaluates(self, node: SgNode) -> bool:
        """Whether a node stands where no gradient is wanted, or in a function that is named after an evaluation."""
        for ancestor in node.ancestors():
            if ancestor.kind() == "with_statement" and _QUIET.search(ancestor.text().partition(":")[0]):
                return True
            if ancestor.kind() == "function_definition":
                around = ancestor.parent()
                if around is not None and around.kind() == "decorated_definition":
                    if _QUIET.search(self.source[around.range().start.index : ancestor.range().start.index]):
                        return True
                if (name := ancestor.field("name")) is not None and _JUDGING.search(name.text()):
                    return True
        return False

    def loops(self, node: SgNode) -> bool:
        """Whether a node stands in a loop."""
        return any(ancestor.kind() in LOOPS for ancestor in node.ancestors())

    def made_by(self, maker: str) -> frozenset[str]:
        """Last parts of the names that hold what a call of `maker` (a regular expression) made, wherever they are handed on."""
        if maker not in self._made:
            self._made[maker] = _handed_on(self, re.compile(maker, re.DOTALL))
        return self._made[maker]

    @cached_property
    def _made(self) -> dict[str, frozenset[str]]:
        return {}


def _called(node: SgNode) -> Called | None:
    function, argument_list = node.field("function"), node.field("arguments")
    if function is None or argument_list is None:
        return None
    arguments: list[tuple[str | None, Piece]] = []
    if argument_list.kind() == "argument_list":
        for argument in argument_list.children():
            if argument.kind() == "keyword_argument":
                name, value = argument.field("name"), argument.field("value")
                if name is not None and value is not None:
                    arguments.append((name.text(), piece(value)))
            elif argument.is_named() and argument.kind() != "comment":
                arguments.append(("*" if "splat" in argument.kind() else None, piece(argument)))
    around = piece(argument_list)
    return Called(node, piece(function), tuple(arguments), Piece(around.start + 1, around.end - 1, around.text[1:-1]))


def _whole(node: SgNode) -> SgNode:
    parent = node.parent()
    return parent if parent is not None and parent.kind() == "expression_statement" else node


def _own(node: SgNode) -> Piece | None:
    """The name by which a method that a node stands in calls its object."""
    inside = [
        candidate for candidate in node.ancestors() if candidate.kind() in ("function_definition", "class_definition")
    ]
    for function, around in pairwise(inside):
        if around.kind() == "class_definition" and function.kind() == "function_definition":
            first = next((candidate for candidate in _children(function, "parameters") if candidate.is_named()), None)
            return piece(first) if first is not None and first.text() == "self" else None
    return None


def _children(node: SgNode, name: str) -> list[SgNode]:
    held = node.field(name)
    return held.children() if held is not None else []


def _result(node: SgNode) -> SgNode | None:
    """The left side of the assignment that a node is part of."""
    for candidate in (node, *node.ancestors()):
        if candidate.kind() in ("assignment", "augmented_assignment"):
            left = candidate.field("left")
            return (
                None
                if left is None or (node.range().start.index < left.range().end.index and candidate is not node)
                else left
            )
        if candidate.kind() in ("block", "module", "lambda"):
            return None
    return None


def last_part(name: str) -> str:
    """`self.loss_fn` -> `loss_fn`."""
    return name.rpartition(".")[2].strip()


def _handed_on(script: Script, maker: re.Pattern[str]) -> frozenset[str]:
    """Names are compared by their last part: `self.loss_fn`, `trainer.loss_fn` and `loss_fn` are taken for the same."""
    names: set[str] = set()

    def holds(text: str) -> bool:
        return bool(maker.match(text)) or (bool(re.fullmatch(r"[\w.]+", text)) and last_part(text) in names)

    bindings: list[tuple[str, str]] = []
    for kind, left, right in (
        ("assignment", "left", "right"), ("default_parameter", "name", "value"), ("typed_default_parameter", "name", "value"),
        ("keyword_argument", "name", "value"),
    ):  # fmt: skip
        for node in script.root.find_all(kind=kind):
            one, two = node.field(left), node.field(right)
            if one is not None and two is not None:
                bindings.append((one.text(), two.text()))
    parameters: dict[str, list[str]] = {}
    for node in script.root.find_all(kind="function_definition"):
        name, parameter_list = node.field("name"), node.field("parameters")
        if name is None or parameter_list is None:
            continue
        listed = [re.split(r"[:=]", one.text())[0].strip() for one in parameter_list.children() if one.is_named()]
        owner = next((one.field("name") for one in node.ancestors() if one.kind() == "class_definition"), None)
        if owner is not None:
            listed = listed[1:]  # self
        parameters[owner.text() if owner is not None and name.text() == "__init__" else name.text()] = listed
    for called in script.calls:
        listed = parameters.get(last_part(called.function.text), [])
        for target, (keyword, value) in zip(listed, called.arguments, strict=False):
            if keyword is None:
                bindings.append((target, value.text))
    while True:
        new_names = {last_part(left) for left, right in bindings if re.fullmatch(r"[\w.]+", left) and holds(right)}
        if new_names <= names:
            return frozenset(names)
        names |= new_names
