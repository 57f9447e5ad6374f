"""The table of causes: what a cause is called, what it explains, and where in a script to look for it.

cause("loss/double_softmax").word       # "a loss function with the wrong kind of input"
words()                                 # the choices of a form
named("double softmax")                 # the same word, for what a user typed
"""

import difflib
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bugzoo.diagnostics._causes import PLACES, SOURCE_KNOWS
from bugzoo.diagnostics._source import Source
from bugzoo.errors import UserError

__all__ = ["NOTHING", "OTHER", "TABLE", "Cause", "cause", "locate", "named", "right", "rows", "says", "words"]

TABLE = "causes.json"
"""The words of each fault and family, in this package and at the top of a fault pack. `bugzoo causes build` writes it."""
NOTHING = "nothing is wrong"
OTHER = "something else"
"""The word for a cause whose family is not in this table (another package's)."""


@dataclass(frozen=True)
class Cause:
    """One row: the words that stand in the fault's file (`faults.model.Cause` explains them), and where to look."""

    word: str = ""
    also: tuple[str, ...] = ()
    either: Mapping[str, Mapping[str, tuple[float, float]]] = field(default_factory=dict)
    explains: tuple[str, ...] = ()
    place: Callable[[Source], Any] | None = None
    """Finds the statement that it lives in."""
    source_knows: bool = False
    """The run sees the consequence, and the source shows the place that made it."""


@cache
def rows() -> dict[str, Cause]:
    """Return `family/` or fault's id -> its row. The faults of a pack have its name before their ids: `acme:loop/lost`."""
    packages = {"": "bugzoo.diagnostics"} | {
        f"{pack.name}:": pack.module for pack in entry_points(group="bugzoo.faults")
    }
    filled: dict[str, dict[str, Any]] = {}
    for prefix, package in packages.items():
        filled |= {prefix + name: row for name, row in _read(package).items()}
    return {
        name: Cause(**filled.get(name, {}), place=PLACES.get(_plain(name)), source_knows=_plain(name) in SOURCE_KNOWS)
        for name in filled | PLACES | dict.fromkeys(SOURCE_KNOWS)
    }


def _read(package: str) -> dict[str, dict[str, Any]]:
    """Return a package's table, with tuples for lists; {} without one. The code of a fault pack is not run for it."""
    spec = find_spec(package)
    folders = spec.submodule_search_locations if spec else ()
    file = next((file for folder in folders or () if (file := Path(folder) / TABLE).is_file()), None)
    table = json.loads(file.read_text(encoding="utf-8")) if file else {}
    lists = ("also", "explains")
    return {
        name: {part: tuple(row[part]) if part in lists else row[part] for part in row} for name, row in table.items()
    }


def _plain(fault_id: str) -> str:
    """A pack's `acme:loop/stale_gradients` is looked up like `loop/stale_gradients`, where the pack has no words for it."""
    return fault_id.rpartition(":")[2]


def _row(name: str) -> Cause | None:
    return rows().get(name) or rows().get(_plain(name))


@cache
def cause(fault_id: str) -> Cause:
    """The row of this cause, or else of its family. What the row leaves open comes from the family's row.

    An unknown family (another package's) has the word "something else" and nothing more.
    """
    family = _row(fault_id.split("/")[0] + "/") or Cause(OTHER)
    row = _row(fault_id) or family
    return replace(
        row,
        word=row.word or family.word,
        explains=tuple(dict.fromkeys(row.explains + family.explains)),
        place=row.place or family.place,
    )


def right(fault_id: str, params: Mapping[str, Any] | None = None) -> tuple[str, ...]:
    """The words that are right for a fault with these parameters, the main one first."""
    row = cause(fault_id)
    return (row.word, *(word for word, bounds in row.either.items() if _inside(bounds, params or {})))


def _inside(bounds: Mapping[str, tuple[float, float]], params: Mapping[str, Any]) -> bool:
    return all(low < float(params.get(name, math.nan)) < high for name, (low, high) in bounds.items())


@cache
def words() -> tuple[str, ...]:
    """The choices of a form, sorted."""
    return tuple(sorted({row.word for row in rows().values() if row.word} | {OTHER}))


def tidy(text: object) -> str:
    """Lower case, single spaces, dashes and underscores as spaces, no punctuation around it."""
    return " ".join(re.sub(r"[\s_-]+", " ", str(text or "").lower()).split()).strip(" .,;:!?\"'“”`")


@cache
def _known() -> dict[str, str]:
    """Each accepted text, tidied -> the word of the form."""
    synonyms = {tidy(text): cause(key).word for key, row in rows().items() for text in row.also}
    return synonyms | {tidy(word): word for word in words()}


def named(text: object) -> str:
    """The form's word for what a user typed: the word itself, a synonym, or an id as `checkup` prints it.

    Raises UserError, with the whole list, for anything else.
    """
    typed = str(text or "").strip()
    if "/" in typed and (word := cause(typed).word) != OTHER:
        return word
    if match := _known().get(tidy(typed)):
        return match
    near = dict.fromkeys(_known()[name] for name in difflib.get_close_matches(tidy(typed), _known(), 3, 0.6))
    guess = f" Did you mean {' or '.join(repr(word) for word in near)}?" if near else ""
    listed = "\n".join(f"  {word}" for word in words())
    raise UserError(f"{typed[:80]!r} is not a known cause.{guess} Choose one of\n{listed}")


def says(text: object, fault_id: str, params: Mapping[str, Any] | None = None) -> bool:
    """Does the user's text name this fault's cause? Unknown words do not."""
    try:
        return named(text) in right(fault_id, params)
    except UserError:
        return False


def locate(fault_id: str, text: str) -> int | None:
    """The line (from 1) of `text` that most likely holds a suspect of this cause; None if that is unknown."""
    try:
        source = Source(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    find = cause(fault_id).place
    node = find(source) if find else None
    return getattr(node, "lineno", None)
