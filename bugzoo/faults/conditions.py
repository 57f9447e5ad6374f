"""What a form demands of a match, and what an idiom prefers of several: functions of the script and the match."""

import re

from ast_grep_py import SgNode

from bugzoo.faults.forms import Condition
from bugzoo.faults.script import Place, Script, last_part, statement

_BACK = ("$R.backward($$$)", "$S.scale($R)", "$A.backward($R)")
"""How backward() is called on a name."""


def trains(script: Script, place: Place) -> bool:
    """It stands in the loop or the function that calls backward(), and in no evaluation."""
    return script.trains(place.node) and not script.evaluates(place.node)


def judges(script: Script, place: Place) -> bool:
    """Under it a model is run over data: a loop, or a function named after an evaluation."""
    under = next(
        (
            ancestor
            for ancestor in place.node.ancestors()
            if ancestor.kind() in ("with_statement", "decorated_definition")
        ),
        place.node,
    )
    return under.find(kind="for_statement") is not None


def not_evaluating(script: Script, place: Place) -> bool:
    """It stands neither under no_grad nor in a function that is named after an evaluation."""
    return not script.evaluates(place.node)


def no_evaluation(script: Script, place: Place) -> bool:
    """What it is assigned to is not named after an evaluation, as test_loader is."""
    result = place.names().get("RESULT", "")
    return not re.search(r"(^|_)(val|valid|validation|test|eval|dev)(_|$)", result, re.IGNORECASE)


def not_within(names: str) -> Condition:
    """It stands in no function whose name has one of these (a regular expression)."""

    def holds(script: Script, place: Place) -> bool:
        around = (
            ancestor.field("name") for ancestor in place.node.ancestors() if ancestor.kind() == "function_definition"
        )
        return not any(name is not None and re.search(names, name.text()) for name in around)

    return holds


def loops(script: Script, place: Place) -> bool:
    """It stands in a loop."""
    return script.loops(place.node)


def top_level(script: Script, place: Place) -> bool:
    """It stands in no function and no class."""
    return not any(
        ancestor.kind() in ("function_definition", "class_definition") for ancestor in place.node.ancestors()
    )


def alone(script: Script, place: Place) -> bool:
    """It is a statement, or all that is assigned or returned in one."""
    parent = place.node.parent()
    return parent is not None and parent.kind() in ("expression_statement", "assignment", "return_statement")


def listed(script: Script, place: Place) -> bool:
    """It is one of several: an argument of Sequential(...), or an element of a list."""
    parent = place.node.parent()
    if parent is None or parent.kind() not in ("argument_list", "list"):
        return False
    call = parent.parent()
    return parent.kind() == "list" or (call is not None and call.text().split("(")[0].endswith("Sequential"))


def assigned(script: Script, place: Place) -> bool:
    """It is all that is assigned to a name."""
    parent = place.node.parent()
    return parent is not None and parent.kind() == "assignment" and "RESULT" in place.pieces


def trained_on(script: Script, place: Place) -> bool:
    """backward() is called on what it is assigned to, or on itself."""
    result = place.names().get("RESULT")
    if result is None:
        return bool(re.search(r"\.backward\(", statement(place.node).text()))
    return any(script.anywhere(form, {"R": name.strip()}) for name in result.split(",") for form in _BACK)


def adds_up(script: Script, place: Place) -> bool:
    """backward() is called on it, or on a sum that it is a term of: `total = loss + penalty` and `total.backward()`."""
    if trained_on(script, place):
        return True
    name = place.names().get("RESULT")
    if name is None:
        return False
    for node in script.root.find_all(kind="assignment"):
        total, value = node.field("left"), node.field("right")
        if total is not None and value is not None and _is_term(name, value):
            if any(script.anywhere(form, {"R": total.text()}) for form in _BACK):
                return True
    return False


def _is_term(name: str, value: SgNode) -> bool:
    """Whether a name is a term of a sum, by itself or with a weight."""
    if value.kind() in ("binary_operator", "parenthesized_expression"):
        return any(_is_term(name, part) for part in value.children())
    return value.text() == name


def not_together(one: str, two: str) -> Condition:
    """The names that two metavariables hold do not come out of one assignment, as two outputs of a model do."""

    def holds(script: Script, place: Place) -> bool:
        names = place.names()
        pair = {names.get(one), names.get(two)}
        lefts = (node.field("left") for node in script.root.find_all(kind="assignment"))
        return not any(left is not None and pair <= set(map(str.strip, left.text().split(","))) for left in lefts)

    return holds


def has(name: str) -> Condition:
    """A metavariable is there."""
    return lambda script, place: name in place.pieces


def lacks(name: str) -> Condition:
    """A metavariable is not there."""
    return lambda script, place: name not in place.pieces


def text_is(name: str, pattern: str) -> Condition:
    """A metavariable is there and all of its text matches, whatever the case."""
    expression = re.compile(pattern, re.IGNORECASE | re.DOTALL)
    return lambda script, place: name in place.pieces and bool(expression.fullmatch(place.pieces[name].text))


def text_is_not(name: str, pattern: str) -> Condition:
    """The opposite of `text_is`."""
    holds = text_is(name, pattern)
    return lambda script, place: not holds(script, place)


def made_by(name: str, maker: str) -> Condition:
    """A metavariable names what such a call made: through other names, functions and classes."""
    return lambda script, place: last_part(place.pieces[name].text) in script.made_by(maker)


def same(one: str, two: str) -> Condition:
    """Two metavariables hold the same text."""
    return lambda script, place: (names := place.names()).get(one) is not None and names[one] == names.get(two)


def mentions(one: str, two: str) -> Condition:
    """The text of one metavariable has that of another as a word."""

    def holds(script: Script, place: Place) -> bool:
        names = place.names()
        return (
            one in names and two in names and bool(re.search(rf"(?<![\w.]){re.escape(names[two])}(?!\w)", names[one]))
        )

    return holds


def not_made_by(name: str, maker: str) -> Condition:
    """The opposite of `made_by`."""
    holds = made_by(name, maker)
    return lambda script, place: not holds(script, place)


def somewhere(*patterns: str) -> Condition:
    """One of the patterns matches somewhere in the script with this place's metavariables."""
    return lambda script, place: any(script.anywhere(pattern, place.names()) for pattern in patterns)


def any_of(*conditions: Condition) -> Condition:
    """One of the conditions holds."""
    return lambda script, place: any(condition(script, place) for condition in conditions)


def kind(*kinds: str) -> Condition:
    """The match is such a node of the syntax tree."""
    return lambda script, place: place.node.kind() in kinds
