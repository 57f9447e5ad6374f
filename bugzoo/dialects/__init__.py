"""Dialects: other ways to write the same training program, so that not everybody is handed the same text.

A dialect is a file of this folder, and putting one here is all that it takes to add it:

    docstring                                   its first line says what it rewrites
    KIND = "names"                              or spelling, structure, layout: the order in which they are made
    rewrite(source, draw) -> str | None         the text in this dialect; None where there is nothing to rewrite
    HIDES = True                                where some instrument sees less of a script that is written so

A dialect takes any program, healthy or broken, and knows nothing of faults. It changes the text and nothing that the text does:
every loss, every metric and every weight stays as it was, to the last bit. It leaves what it cannot be sure of. `bugzoo dialects
check` proves that by runs (`bugzoo.proving.dialects`).
"""

import ast
import importlib
import pkgutil
import re
import warnings
from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import chain, zip_longest
from random import Random
from types import ModuleType

from bugzoo.dialects._scopes import KEPT
from bugzoo.errors import UserError, unknown
from bugzoo.syntax import parse

__all__ = ["KINDS", "about", "apply", "fitting", "in_sight", "load", "names", "rewritten", "spoilt"]
KINDS = ("names", "spelling", "structure", "layout")
USUAL = 12
"""How many dialects a text is put into when nobody says how many."""


@cache
def names() -> tuple[str, ...]:
    """Every dialect, in the order in which they are made."""
    found = [info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_")]
    return tuple(sorted(found, key=lambda name: (KINDS.index(_module(name).KIND), name)))


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{name}")


def load(name: str) -> ModuleType:
    """A dialect's module. Raises UserError with the nearest names for an unknown one."""
    if name not in names():
        raise unknown("dialect", name, names(), "bugzoo dialects")
    return _module(name)


def about(name: str) -> str:
    """What a dialect rewrites: the first line of its docstring."""
    return (load(name).__doc__ or "").strip().split("\n")[0]


def rewritten(source: str, name: str, seed: int | str = 0) -> str | None:
    """`source` in one dialect; None where it has nothing to rewrite there. The same seed gives the same text.

    Raises UserError for a text that is no Python, or a dialect that there is not.
    """
    _check_python(source)
    load(name)
    return _rewritten(source, name, seed)


@lru_cache(maxsize=256)
def _rewritten(source: str, name: str, seed: int | str) -> str | None:
    text = _module(name).rewrite(source, Random(f"{seed}:{name}"))
    # a way of writing that nobody thought of: better no rewriting than a wrong one; the tests ask for the reason
    return None if text is None or text == source or spoilt(source, text) else text


def in_sight() -> list[str]:
    """The dialects behind which instruments see as much as before.

    Some run a script's evaluation once more, and look for what comes behind the loop of its top level that calls
    `.backward()`; others look through what its top level still holds at the end.
    """
    return [name for name in names() if not getattr(_module(name), "HIDES", False)]


def fitting(source: str) -> list[str]:
    """The dialects that find something to rewrite in a text, in their order."""
    return [name for name in names() if rewritten(source, name) is not None]


def apply(
    source: str, seed: int | str, how_many: int = USUAL, among: Iterable[str] | None = None
) -> tuple[str, list[str]]:
    """(`source` in a combination of dialects drawn from `seed`, which ones, in the order in which they were made).

    Fewer than `how_many` where no more fit. `among` names those to draw from; all when left out. Of each kind about equally
    many are drawn. The same source, seed and dialects give the same text, on any machine. The solution beside a broken text
    in dialects is `apply(healthy, seed, len(made), made)`: what each of them draws depends on the seed alone.
    Raises UserError for a text that is no Python, or a dialect that there is not.
    """
    allowed = names() if among is None else [load(name).__name__.rsplit(".", 1)[-1] for name in among]
    _check_python(source)
    draw, kinds = Random(f"{seed}:dialects"), []
    for kind in KINDS:
        some = [name for name in sorted(allowed) if _module(name).KIND == kind]
        draw.shuffle(some)
        kinds.append(some)
    draw.shuffle(kinds)
    waiting = [name for name in chain.from_iterable(zip_longest(*kinds)) if name]
    chosen, waiting = waiting[:how_many], waiting[how_many:]
    while True:  # one that finds nothing, or nothing any more behind another, is replaced by the next that was drawn
        text, made = _in_turn(source, [name for name in names() if name in chosen], seed)
        lost = [name for name in chosen if name not in made]
        if not lost or not waiting:
            return text, made
        chosen = [name for name in chosen if name in made] + waiting[: len(lost)]
        waiting = waiting[len(lost) :]


def _in_turn(source: str, chosen: list[str], seed: int | str) -> tuple[str, list[str]]:
    text, made = source, []
    for name in chosen:
        after = _rewritten(text, name, seed)
        if after is not None:
            text, made = after, [*made, name]
    return text, made


def spoilt(source: str, text: str) -> str:
    """What a rewriting lost that graders and notebooks need, in words; empty where nothing is lost."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the text's own
            compile(text, "<dialect>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return f"it is no Python any more ({error})"
    if _sections(source) != _sections(text):
        return "its sections are others"
    if gone := _kept(source) - _kept(text):
        return f"it has no {', '.join(sorted(gone))} at its top level any more"
    if _literal_lines(source) != _literal_lines(text):
        return "a line of its settings that graders rewrite is another"
    return ""


def _sections(source: str) -> list[str]:
    return re.findall(r"^# %% *([^\n]*?) *$", source, flags=re.MULTILINE)


def _kept(source: str) -> set[str]:
    """Of the names that graders need those that the top level gives a value to."""
    found, waiting = set(), list(parse(source).body)
    while waiting:
        node = waiting.pop()
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            waiting += list(ast.iter_child_nodes(node))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found & KEPT


def _literal_lines(source: str) -> dict[str, str]:
    """Lines of the top level `name = literal` that graders rewrite: name -> value."""
    found = {}
    for node in parse(source).body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            if node.targets[0].id in KEPT and isinstance(node.value, ast.Constant) and node.lineno == node.end_lineno:
                found.setdefault(node.targets[0].id, repr(node.value.value))
    return found


def _check_python(source: str) -> None:
    try:
        parse(source)
    except (SyntaxError, ValueError) as error:
        said = f"{error.msg}, line {error.lineno}" if isinstance(error, SyntaxError) else str(error)
        raise UserError(f"This text is no Python, and nothing else has dialects: {said}.") from None
