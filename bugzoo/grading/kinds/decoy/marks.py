"""The price of touching a decoy: something odd and harmless that has to stay, whatever the repair looks like.

What the decoy adds to a program is compared as syntax, not as text, in the forms of `unchanged_parts`: names, layout and
comments do not count, and a name that is bound once to a number stands for its value. It also has to run as it did (`way`),
in the healthy program, in the one handed out, or in another right repair.
"""

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from bugzoo.grading.model import FOR_A_PERSON, Check, Result, state_of
from bugzoo.grading.program_syntax import Syntax
from bugzoo.grading.repairs import repairs
from bugzoo.grading.way import way
from bugzoo.scenario import Scenario
from bugzoo.syntax import source_lines

PRICE = 0.2
"""Share of the points that it costs: one of five."""
NAME = "decoy"


@dataclass(frozen=True)
class Mark:
    """One thing that a decoy adds: its form, the line of the healthy program that holds it, and how it runs there."""

    form: str
    line: str
    way: Counter[str]


def marks(case: Scenario) -> list[Mark]:
    """Return what the decoy of a scenario adds to the program; empty without one."""
    if not case.decoy:
        return []
    text = case.base
    with_it = Syntax(text)
    dumps = {ast.dump(node) for node in ast.walk(Syntax(case.undecoyed().base).tree)}
    lines = source_lines(text)
    added = _added(with_it.tree, dumps)
    return [Mark(with_it.form(node), lines[_line(node)].strip(), way(with_it, node)) for node in added]


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 1) - 1


def _added(node: ast.AST, known: set[str]) -> Iterator[ast.AST]:
    """Yield the smallest new parts of a new node that still say what is done: statements, calls, arguments by name."""
    new = [child for child in ast.iter_child_nodes(node) if ast.dump(child) not in known]
    if hasattr(node, "body") and isinstance(node, ast.stmt | ast.mod):
        for child in new:
            yield from _added(child, known)
    elif isinstance(node, ast.Call) and new and all(isinstance(child, ast.keyword) for child in new):
        yield from new
    elif len(new) == 1 and not _named(node, new[0]):
        yield from _added(new[0], known)
    else:
        yield node


def _named(node: ast.AST, child: ast.AST) -> bool:
    """Return whether a child is what a call, an attribute or an argument is named by: alone it says nothing."""
    return isinstance(node, ast.Attribute | ast.keyword) or (isinstance(node, ast.Call) and child is node.func)


def touched(source: str, case: Scenario) -> list[Mark]:
    """Return what the decoy adds and `source` no longer has. Raises SyntaxError."""
    expected = marks(case)
    if not expected:
        return []
    submitted = _ways(source, expected)
    texts = [case.source, *(text for one in case.specs for text in repairs(case.source, *one).values())]
    usual = [{mark.form: [mark.way] for mark in expected}, *(_ways(text, expected) for text in texts)]
    ways = {form: [way for one in usual for way in one[form]] for form in submitted}
    runs = {form: sum(any(not one - way for way in ways[form]) for one in every) for form, every in submitted.items()}
    forms = Counter(mark.form for mark in expected)
    return [mark for mark in expected if runs[mark.form] < forms[mark.form]]


def _ways(source: str, wanted: list[Mark]) -> dict[str, list[Counter[str]]]:
    """Return how each piece of a program runs that has the form of a mark: form -> ways."""
    program = Syntax(source)
    ways: dict[str, list[Counter[str]]] = {mark.form: [] for mark in wanted}
    for node in ast.walk(program.tree):
        if isinstance(node, _COMPARED) and (form := program.form(node)) in ways:
            ways[form].append(way(program, node))
    return ways


_COMPARED = ast.stmt | ast.expr | ast.keyword


def priced(source: str, case: Scenario, grade: Callable[[Scenario], Result]) -> Result:
    """Return what `grade` says of `source` under a scenario with a decoy. Touching the decoy costs a point of five.

    A repair that also takes the decoy away passes if it is as good as the healthy program without it.
    """
    result = grade(case)
    if not case.decoy or result.status not in ("passed", "wrong"):
        return result
    try:
        gone = touched(source, case)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return result
    if gone and not result.passed:
        other = grade(case.undecoyed())
        result = other if other.status in ("passed", FOR_A_PERSON) else result
    if not result.passed:
        return result
    saw = said(gone, case) if gone else "What is odd and harmless is as it was."
    check = Check(NAME, state_of(not gone), saw, "A repair leaves it alone." if gone else "", group="unchanged")
    share = round(result.share - (PRICE if gone else 0.0), 4)
    return replace(result, share=share, checks=[*result.checks, check])


def said(gone: list[Mark], case: Scenario) -> str:
    """Return which line was harmless, and what the healthy program reports with it and without it."""
    from bugzoo.grading.healthy import recorded  # it loads the notebook's parts, and few submissions need them

    lines = list(dict.fromkeys(mark.line for mark in gone))
    one = len(lines) == 1
    with_it, without = (recorded(it.source, it.ranks).metrics for it in (case.healthy(), case.undecoyed().healthy()))
    values = [f"{name} {value:.3f} and {without[name]:.3f}" for name, value in with_it.items() if name in without]
    return (
        f"You also changed {' and '.join(f'`{line}`' for line in lines)}. {'This line is' if one else 'These lines are'} odd and "
        f"harmless. The healthy program reports, with {'it' if one else 'them'} and without: {'; '.join(values)}."
    )
