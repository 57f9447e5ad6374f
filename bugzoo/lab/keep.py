"""Keep a function of a lesson beside the notebook, with two tests: it finds the incident, and nothing in the healthy twin."""

import builtins
import inspect
import re
import sys
import textwrap
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from bugzoo import course
from bugzoo.course.names import needs
from bugzoo.errors import UserError
from bugzoo.files import write_atomic
from bugzoo.lab.tryout import Solution
from bugzoo.syntax import parse
from bugzoo.templates import render

FILE = "test_mine.py"
BEGIN, END = "# ---- {name} (lesson {number})", "# ---- end of {name}"
"""Lines around a function's part of the file. The rest of the file is the reader's."""
_FOOT = re.compile(r"(?m)^if __name__ == ")


def keep(function: Any, folder: Path) -> str:
    """Write a function, its imports and its tests into `test_mine.py`; return what was written. Raises UserError.

    An earlier part of the same name is replaced, and nothing else.
    """
    if isinstance(function, Solution):
        return "It does not pass its checks yet, so nothing was kept. Run this cell again when it does."
    name = str(getattr(function, "__name__", type(function).__name__))
    function = inspect.unwrap(function) if callable(function) else function
    source = _source(function, name)
    number, tests = _tests(name)
    imports = _imports(function, source + "\n" + tests, name)
    file = folder / FILE
    text = file.read_text(encoding="utf-8") if file.exists() else render("bugzoo.lab", "test_mine.py.j2")
    begin, end = BEGIN.format(name=name, number=number), END.format(name=name)
    part = f"{begin}\n" + "\n\n\n".join(filter(None, ["\n".join(imports), source, tests])) + f"\n{end}\n"
    write_atomic(file, _placed(text, begin, end, part))
    return f"Kept in {FILE}: {name} and its tests. Run them with `pytest {FILE}` or `python {FILE}`."


def _tests(name: str) -> tuple[str, str]:
    """Return the lesson's number and the text of a function's tests."""
    kept = {
        cell.name: (lesson.number, cell.text)
        for lesson in map(course.load, course.files())
        for cell in lesson.of("keep")
    }
    if name not in kept:
        raise UserError(f"No lesson has tests for {name!r}. `lab.keep` takes one of {', '.join(sorted(kept))}.")
    return kept[name]


def _source(function: Any, name: str) -> str:
    """Return the text of a function that was written with `def`, and without a decorator that hides it."""
    if not isinstance(function, FunctionType) or name == "<lambda>":
        raise UserError(f"`lab.keep` takes a function written with `def`, not {_kind(function)}. Nothing was written.")
    try:
        text = textwrap.dedent(inspect.getsource(function))
        tree = parse(text).body[0]
    except (OSError, SyntaxError, IndexError):
        raise UserError(f"The text of {name} cannot be read. Run its cell again, then this one.") from None
    if getattr(tree, "name", "") != name:
        raise UserError(f"A decorator hides the text of {name}. Write it without the decorator. Nothing was written.")
    return text.rstrip()


def _kind(function: Any) -> str:
    if isinstance(function, FunctionType):
        return "a lambda"
    return "a class" if isinstance(function, type) else f"an object of type {type(function).__name__}"


def _imports(function: FunctionType, text: str, name: str) -> list[str]:
    """Return the imports that a text needs. Raises UserError for a name that only the notebook has."""
    names = function.__globals__ | {"lab": sys.modules["bugzoo.lab"]}
    used = sorted(needs(text) - set(dir(builtins)) - {name})
    return sorted(filter(None, (_import(used_name, names.get(used_name), name) for used_name in used)))


def _import(name: str, value: Any, function: str) -> str:
    if isinstance(value, ModuleType):
        parent, _, last = value.__name__.rpartition(".")
        if parent and last == name:
            return f"from {parent} import {name}"
        return f"import {value.__name__}" + f" as {name}" * (value.__name__ != name)
    home = getattr(value, "__module__", "__main__")
    if home not in (None, "__main__") and getattr(sys.modules.get(home), name, None) is value:
        return f"from {home} import {name}"
    raise UserError(
        f"{function} needs `{name}`, which only this notebook has. Make it an argument or write it into {function}; "
        "nothing was written."
    )


def _placed(text: str, begin: str, end: str, part: str) -> str:
    """Return a file's text with a part in its place: that of its earlier version, else before the last lines."""
    start = text.find(begin)
    if start >= 0:
        stop = text.find(f"\n{end}\n", start)
        if stop < 0:
            raise UserError(f"{FILE} lacks the line {end!r}. Write it below that part; nothing was changed.")
        return text[:start] + part + text[stop + len(end) + 2 :]
    foot = _FOOT.search(text)
    place = foot.start() if foot else len(text)
    return f"{text[:place].rstrip()}\n\n\n{part}\n\n{text[place:]}".rstrip() + "\n"
