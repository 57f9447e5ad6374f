"""The verbs in which a fault, a repair or a pretence says what it does to a place that an idiom names.

    rewrite(LOSS, LOGITS="$F.softmax($LOGITS, dim=-1)")    what a metavariable holds is written anew, the rest stays
    remove(ZERO_GRAD)                                      the statement goes; in an expression, what the idiom says is left
    before(STEP, "$OPTIMIZER.zero_grad()")                 lines in front of the statement, indented as it is
    after(OPTIMIZER, "$RESULT.add_param_group(...)")       lines behind it
    either(remove(UNSCALE), nothing)                       the first alternative that fits; `nothing` if none is there

A text may use every metavariable of its place, `$PLACE` (all of it) and `$RESULT` (the name that it is assigned to), those of
the other places that the same fault edits, `$STEP_STATEMENT` (of whichever idiom) for such a place's statement, and the
fault's parameters in lower case; `fold(...)` works a product of numbers out. Parentheses round one metavariable,
`($LOGITS).softmax(-1)`, are kept only where Python needs them. `(text, text)` in place of a text: the first whose
metavariables are all there, such as `("$F.softmax($LOGITS, dim=-1)", "($LOGITS).softmax(dim=-1)")`, as not every way to write
a loss names a module `$F`.

`rewrite(LOSS, PLACE="-$PLACE")` writes the whole place anew. `given=RANKS` makes an edit only in a script that has such a place
too, and lends its metavariables. Where no idiom fits there is the plain `Swap`, and
`instead(pattern, {name: text, ...})` for several of them at one place.
"""

from collections.abc import Mapping

from bugzoo.faults.forms import Idiom
from bugzoo.faults.model import Change, Edits, Either, Swap, Written, together

__all__ = ["after", "before", "either", "instead", "nothing", "remove", "rewrite"]

nothing: Edits = ()
"""The alternative that changes nothing, last in `either`: for a place that need not be there."""


def rewrite(place: Idiom, *, given: Idiom | tuple[Idiom, ...] = (), **new: str | tuple[str, ...]) -> Change:
    """Write anew what the named metavariables hold. Raises ValueError for one that the idiom does not have."""
    for name in new:
        if name not in place.names:
            raise ValueError(f"{place.name} has no metavariable {name}; it has {', '.join(sorted(place.names))}")
    return Change(place, "rewrite", tuple((name, _texts(text)) for name, text in new.items()), _places(given))


def remove(place: Idiom, *, given: Idiom | tuple[Idiom, ...] = ()) -> Change:
    """Take the place out: the statement, the `with` round its block, or the call out of an expression."""
    return Change(place, "remove", (), _places(given))


def before(place: Idiom, text: str | tuple[str, ...], *, given: Idiom | tuple[Idiom, ...] = ()) -> Change:
    """Lines in front of the statement that the place belongs to."""
    return Change(place, "before", (("", _texts(text)),), _places(given))


def after(place: Idiom, text: str | tuple[str, ...], *, given: Idiom | tuple[Idiom, ...] = ()) -> Change:
    """Lines behind the statement that the place belongs to."""
    return Change(place, "after", (("", _texts(text)),), _places(given))


def either(*alternatives: Written) -> Either:
    """The first alternative (an edit, or a tuple of edits made together) of which every edit fits exactly once."""
    return Either(tuple(together(alternative) for alternative in alternatives))


def instead(place: str, texts: Mapping[str, str]) -> dict[str, Swap]:
    """Several ways to write one place anew, name -> edit; `place` is a pattern as in `Swap`."""
    return {name: Swap(place, text) for name, text in texts.items()}


def _texts(text: str | tuple[str, ...]) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else text


def _places(given: Idiom | tuple[Idiom, ...]) -> tuple[Idiom, ...]:
    return (given,) if isinstance(given, Idiom) else given
