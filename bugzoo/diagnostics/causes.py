"""The table of causes: what a cause is called, what it explains, and where in a script to look for it.

cause("loss/double_softmax").word       # "a loss function with the wrong kind of input"
words()                                 # the choices of a form
named("double softmax")                 # the same word, for what a user typed
"""

import difflib
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from bugzoo.diagnostics._causes import CAUSES, NOTHING, Cause, Either
from bugzoo.diagnostics._source import Source
from bugzoo.errors import UserError

__all__ = ["CAUSES", "NOTHING", "OTHER", "Cause", "Either", "cause", "locate", "named", "right", "says", "words"]

OTHER = "something else"
"""The word for a cause whose family is not in this table (another package's)."""


def _plain(fault_id: str) -> str:
    """A pack's `acme:loop/stale_gradients` is looked up like `loop/stale_gradients`."""
    return fault_id.rpartition(":")[2]


@cache
def cause(fault_id: str) -> Cause:
    """The row of this cause, or else of its family. What the row leaves open comes from the family's row.

    An unknown family (another package's) has the word "something else" and nothing more.
    """
    fault_id = _plain(fault_id)
    family = CAUSES.get(fault_id.split("/")[0] + "/", Cause(OTHER))
    own = CAUSES.get(fault_id, family)
    return replace(
        own,
        word=own.word or family.word,
        explains=tuple(dict.fromkeys(own.explains + family.explains)),
        place=own.place or family.place,
    )


def right(fault_id: str, params: Mapping[str, Any] | None = None) -> tuple[str, ...]:
    """The words that are right for a fault with these parameters, the main one first."""
    row = cause(fault_id)
    return (row.word, *(one.word for one in row.either if one.when(params or {})))


@cache
def words() -> tuple[str, ...]:
    """The choices of a form, sorted."""
    return tuple(sorted({row.word for row in CAUSES.values() if row.word} | {OTHER}))


def tidy(text: object) -> str:
    """Lower case, single spaces, dashes and underscores as spaces, no punctuation around it."""
    return " ".join(re.sub(r"[\s_-]+", " ", str(text or "").lower()).split()).strip(" .,;:!?\"'“”`")


@cache
def _known() -> dict[str, str]:
    """Each accepted text, tidied -> the word of the form."""
    said = {tidy(text): cause(key).word for key, row in CAUSES.items() for text in row.also}
    return said | {tidy(word): word for word in words()}


def named(text: object) -> str:
    """The form's word for what a user typed: the word itself, a synonym, or an id as `checkup` prints it.

    Raises UserError, with the whole list, for anything else.
    """
    given = str(text or "").strip()
    family = _plain(given).split("/")[0] + "/"
    if "/" in given and family in CAUSES:
        return cause(given).word
    if found := _known().get(tidy(given)):
        return found
    near = dict.fromkeys(_known()[name] for name in difflib.get_close_matches(tidy(given), _known(), 3, 0.6))
    guess = f" Did you mean {' or '.join(repr(word) for word in near)}?" if near else ""
    listed = "\n".join(f"  {word}" for word in words())
    raise UserError(f"{given[:80]!r} is not a known cause.{guess} Choose one of\n{listed}")


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
