"""How an idiom is described: the forms in which people write one place, and which of several matches is meant.

A form is either a call (`Call`, the usual case: function by regular expression, arguments by position or keyword), a number
with a telling name (`Number`), or a pattern of ast-grep (`Pattern`). All of them agree on the metavariables. Two are always
there: `PLACE` is the whole match, `RESULT` the name that it is assigned to. In a method `SELF` is its object.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from bugzoo.faults.script import Called, Piece, Place, Script, last_part, piece

Condition = Callable[[Script, Place], bool]
"""What must hold of a match, or is preferred: functions of the script and the match."""


@dataclass(frozen=True)
class Call:
    """A call whose function matches `function`; named groups are metavariables, and so are `arguments`.

    `arguments`: `"LOGITS=input"` in the order of the function's parameters; the keyword, or several (`"lr|learning_rate"`).
    An argument that is not given leaves its metavariable out. `inside`: a metavariable -> regular expression whose groups
    are further ones, such as the model in `model.parameters()`. `left`: what stays when the call is taken out of an
    expression. `where`: conditions.
    """

    function: str
    arguments: tuple[str, ...] = ()
    where: tuple[Condition, ...] = ()
    inside: Mapping[str, str] = field(default_factory=dict)
    left: str = ""
    whole: str = ""
    """A regular expression that everything between the parentheses must match, where one is given."""

    @cached_property
    def names(self) -> frozenset[str]:
        """The metavariables that a match may have."""
        groups = [re.compile(text).groupindex for text in (self.function, *self.inside.values())]
        return frozenset({name for group in groups for name in group} | {text.split("=")[0] for text in self.arguments})

    def find(self, script: Script) -> Iterator[Place]:
        """Every match, in order."""
        function = re.compile(self.function, re.DOTALL)
        for called in script.calls:
            match = function.fullmatch(called.function.text)
            if not match or (self.whole and not re.fullmatch(self.whole, called.inside.text.strip(), re.DOTALL)):
                continue
            pieces = _groups(match, called.function) | self._bound(called)
            for name, text in self.inside.items():
                if name in pieces and (part := re.search(text, pieces[name].text, re.DOTALL)):
                    pieces |= _groups(part, pieces[name])
            place = script.place(called.node, pieces, left=self.left)
            if all(condition(script, place) for condition in self.where):
                yield place

    def _bound(self, called: Called) -> dict[str, Piece]:
        pieces, free = {}, iter([value for keyword, value in called.arguments if keyword is None])
        by_keyword = {keyword: value for keyword, value in called.arguments if keyword not in (None, "*")}
        for text in self.arguments:
            name, _, keywords = text.partition("=")
            value = next(
                (by_keyword[keyword] for keyword in keywords.split("|") if keyword in by_keyword), None
            ) or next(free, None)
            if value is not None:
                pieces[name] = value
        return pieces


@dataclass(frozen=True)
class Pattern:
    """A pattern of ast-grep: `$NAME` is one node, `$$$REST` any number, several lines are statements in a row."""

    text: str
    where: tuple[Condition, ...] = ()
    also: tuple[str, ...] = ()
    """Patterns that must match somewhere in the script with the same metavariables."""
    inside: Mapping[str, str] = field(default_factory=dict)
    left: str = ""

    @cached_property
    def names(self) -> frozenset[str]:
        """The metavariables that a match has."""
        groups = [re.compile(text).groupindex for text in self.inside.values()]
        metavariables = re.findall(r"\$([A-Z_][A-Z0-9_]*)", self.text)
        return frozenset(metavariables) | {name for group in groups for name in group}

    def find(self, script: Script) -> Iterator[Place]:
        """Every match, in order."""
        for place in script.pattern(self.text, self.also):
            pieces = dict(place.pieces)
            for name, text in self.inside.items():
                if name in pieces and (part := re.search(text, pieces[name].text, re.DOTALL)):
                    pieces |= _groups(part, pieces[name])
            match = script.place(place.node, pieces, left=self.left) if self.inside or self.left else place
            if all(condition(script, match) for condition in self.where):
                yield match


@dataclass(frozen=True)
class Number:
    """A number that a script gives a name which `name` matches; `value` is its metavariable.

    Wherever it stands: an assignment, a parameter's default, a command-line option, a dictionary, a keyword argument.
    """

    name: str
    value: str
    kinds: tuple[str, ...] = ("assignment", "option", "default", "pair", "keyword")
    where: tuple[Condition, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """The one metavariable."""
        return frozenset({self.value})

    def find(self, script: Script) -> Iterator[Place]:
        """Every match, the most likely kind first."""
        yield from (place for place in self._all(script) if all(condition(script, place) for condition in self.where))

    def _all(self, script: Script) -> Iterator[Place]:
        fields = {
            "assignment": (("assignment", "left", "right"),),
            "default": (("default_parameter", "name", "value"), ("typed_default_parameter", "name", "value")),
            "pair": (("pair", "key", "value"),),
            "keyword": (("keyword_argument", "name", "value"),),
        }
        expression = re.compile(self.name, re.IGNORECASE)
        for kind in self.kinds:
            if kind == "option":
                yield from self._options(script, expression)
                continue
            for syntax, left, right in fields[kind]:
                for node in script.root.find_all(kind=syntax):
                    name, value = node.field(left), node.field(right)
                    if name is None or value is None or not _NUMBER.fullmatch(value.text()):
                        continue
                    if expression.fullmatch(last_part(name.text().strip("'\""))):
                        yield script.place(node, {self.value: piece(value)})

    def _options(self, script: Script, wanted: re.Pattern[str]) -> Iterator[Place]:
        for called in script.calls:
            if called.function.text.endswith((".add_argument", ".option", "Option")):
                flags = [value.text for keyword, value in called.arguments if keyword is None]
                default = next((value for keyword, value in called.arguments if keyword == "default"), None)
                named = any(wanted.fullmatch(flag.strip("'\"").lstrip("-").replace("-", "_")) for flag in flags)
                if named and default is not None and _NUMBER.fullmatch(default.text):
                    yield script.place(called.node, {self.value: default})


def narrowed(forms: "tuple[Form, ...]", *conditions: Condition) -> tuple[Call | Pattern, ...]:
    """The forms with further conditions: for an idiom that is a special case of another."""
    return tuple(replace(form, where=(*form.where, *conditions)) for form in forms if isinstance(form, Call | Pattern))


_NUMBER = re.compile(r"[+-]?(\d[\d_]*\.?\d*|\.\d+)([eE][+-]?\d+)?([*/ ]+[\d._eE+-]+)*")


@dataclass(frozen=True)
class Header:
    """A `with` or a decorator, by the expression in it; removing it leaves what stood under it."""

    expression: str
    kind: str = "with"

    names = frozenset({"CONTEXT"})

    def find(self, script: Script) -> Iterator[Place]:
        """Every match, in order."""
        expression = re.compile(self.expression, re.DOTALL)
        for called in script.calls:
            if not expression.fullmatch(called.node.text()):
                continue
            parents = [ancestor.kind() for ancestor in called.node.ancestors()][:2]
            if (self.kind == "with" and parents[:1] == ["with_item"]) or (
                self.kind == "decorator" and parents[:1] == ["decorator"]
            ):
                yield script.place(called.node, {"CONTEXT": piece(called.node)})


Form = Call | Pattern | Number | Header


@dataclass(frozen=True, repr=False, eq=False)
class Idiom:
    """A place that many training scripts have.

    `words`: what is looked for, as a user reads it when it is not there. `forms`: the ways in which it is written; of two
    that match one range the earlier counts. `prefer`: where several match, those that fulfil the first condition are meant,
    of these those that fulfil the second, and so on; what is then still several is offered to choose from.
    """

    name: str
    words: str
    forms: tuple[Form, ...]
    prefer: tuple[Condition, ...] = ()

    def __repr__(self) -> str:
        return self.name

    @cached_property
    def names(self) -> frozenset[str]:
        """The metavariables that some form has."""
        return frozenset({"PLACE", "RESULT", "SELF"}).union(*(form.names for form in self.forms))

    def found(self, script: Script) -> list[Place]:
        """Every match, in the order of the text; looked for once in a script."""
        if self not in script.found:
            script.found[self] = self._find(script)
        return script.found[self]

    def _find(self, script: Script) -> list[Place]:
        places: dict[tuple[int, int], Place] = {}
        for form in self.forms:
            for place in form.find(script):
                places.setdefault((place.start, place.end), place)
        return [places[key] for key in sorted(places)]

    def best(self, script: Script, places: list[Place]) -> list[Place]:
        """Those of `places` that are meant."""
        for condition in self.prefer:
            places = [place for place in places if condition(script, place)] or places
        return places


def _groups(match: re.Match[str], within: Piece) -> dict[str, Piece]:
    return {
        name: Piece(within.start + match.start(name), within.start + match.end(name), text)
        for name, text in match.groupdict().items()
        if text is not None
    }
