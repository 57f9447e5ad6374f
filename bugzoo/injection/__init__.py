"""Apply faults to source code: structural edits of Python text, their combination, conflicts and diff.

Every edit is located in the same original text, so the order of faults does not matter, and two faults at one place are
detected. Nothing is reformatted: bytes outside an edit stay unchanged.
"""

import difflib
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from bugzoo.errors import UserError
from bugzoo.faults.forms import Idiom
from bugzoo.faults.model import Change, Either, Fault, Swap, Written, together
from bugzoo.faults.script import LOOPS, Place, Script, metavariables, read, statement
from bugzoo.injection.rendering import render_change, render_swap
from bugzoo.syntax import parse, source_lines

__all__ = ["Edit", "Injection", "change", "check_syntax", "diff", "inject", "misfit", "places"]


@dataclass(frozen=True)
class Edit:
    """Replace `source[start:end]` by `text` (offsets in characters). `claim`: the whole place of this edit."""

    start: int
    end: int
    text: str
    owner: str
    line: int
    claim: tuple[int, int]


@dataclass(frozen=True)
class Injection:
    """A source text, the edits to it and the result."""

    original: str
    edits: tuple[Edit, ...]

    @property
    def broken(self) -> str:
        text = self.original
        for edit in reversed(self.edits):
            text = text[: edit.start] + edit.text + text[edit.end :]
        return text

    def undo(self, broken: str) -> str:
        """Return `broken` without this injection's edits. Raises ValueError if the text was changed at an edit."""
        for edit in self.edits:  # in order, so that everything before `start` is already restored
            text = broken[edit.start : edit.start + len(edit.text)]
            if text != edit.text:
                raise ValueError(f"line {edit.line} no longer holds what {edit.owner} put there: {text!r}")
            broken = broken[: edit.start] + self.original[edit.start : edit.end] + broken[edit.start + len(edit.text) :]
        return broken


Step = tuple[Swap | Change, Place, dict[str, str]]
"""One edit, its chosen place, and the names that other places provide."""


class _Misfit(Exception):
    """No place, or several. `several`: places to choose from. `sought`: descriptions or patterns of the wanted place."""

    def __init__(self, several: list[Place], sought: list[str]) -> None:
        self.several, self.sought = several, sought


def _find(script: Script, edit: Swap | Change) -> tuple[list[Place], list[Place]]:
    """Return every place where an edit is possible, and the best ones."""
    if isinstance(edit, Swap):
        where = (edit.where,) if isinstance(edit.where, str) else edit.where
        matches = script.pattern(edit.before, where)
        return matches, matches
    matches = [place for place in edit.place.found(script) if _has_all(edit, place)]
    return matches, edit.place.best(script, matches)


def _has_all(edit: Change, place: Place) -> bool:
    """Return whether a place has the metavariables to rewrite, and for each those of one of its texts."""
    for name, texts in edit.texts:
        if name and name not in place.pieces:
            return False
        if not any(metavariables(text) & edit.place.names <= place.pieces.keys() for text in texts):
            return False
    return True


def places(source: str, edit: Swap | Change | Idiom) -> list[Place]:
    """Return the places of an edit or an idiom in a source text, the most likely first."""
    script = read(source)
    if isinstance(edit, Idiom):
        matches = edit.found(script)
        best = edit.best(script, matches)
    else:
        matches, best = _find(script, edit)
    return [*best, *(place for place in matches if place not in best)]


def _plan(script: Script, edit: Swap | Change | Either, at: int | None) -> list[Step]:
    """Return the edits for one entry, each with its place. Raises _Misfit."""
    if isinstance(edit, Either):
        failed: list[_Misfit] = []
        for alternative in edit.alternatives:
            if not alternative and any(misfit.several for misfit in failed):
                break  # the place exists more than once
            try:
                return [step for entry in alternative for step in _plan(script, entry, at)]
            except _Misfit as misfit:
                failed.append(misfit)
        several = next((misfit.several for misfit in failed if misfit.several), [])
        raise _Misfit(several, list(dict.fromkeys(text for misfit in failed for text in misfit.sought)))
    matches, best = _find(script, edit)
    if at is not None and len(matches) > 1:
        near = (
            [p for p in matches if _covers(p, at)],
            [p for p in matches if p.line == at + 1],
            [p for p in matches if p.end_line == at - 1],
        )
        matches = next((some for some in near if some), [])
        best = edit.place.best(script, matches) if isinstance(edit, Change) else matches
    lent: dict[str, str] = {}
    for idiom in edit.given if isinstance(edit, Change) else ():
        there = idiom.best(script, idiom.found(script))
        if not there:
            raise _Misfit([], [idiom.words])
        if there[0].node.kind() in LOOPS:  # a loop's names are known only inside it
            there = [loop for loop in there if any(_holds(loop, place) for place in matches)] or there
            matches, best = ([place for place in some if _holds(there[0], place)] for some in (matches, best))
        lent = _told(script, idiom, there[0]) | lent
    if len(best) == 1:
        return [(edit, best[0], lent)]
    # shown to the user, who looks for it in the script
    sought = "`" + " ; ".join(edit.before.split("\n")) + "`" if isinstance(edit, Swap) else edit.place.words
    raise _Misfit(best, [sought])


def _told(script: Script, idiom: Idiom, place: Place) -> dict[str, str]:
    """Return the names that a place provides: its metavariables, and its statement as `$STEP_STATEMENT`, for example."""
    span = statement(place.node).range()
    return place.names() | {f"{idiom.name}_STATEMENT": script.source[span.start.index : span.end.index]}


def _holds(loop: Place, place: Place) -> bool:
    return loop.start <= place.start and place.end <= loop.end


def _covers(place: Place, line: int) -> bool:
    span = statement(place.node).range() if place.line != line else None
    return place.line <= line <= place.end_line or (span is not None and span.start.line + 1 == line)


def _refuse(misfit: _Misfit, source: str, owner: str, label: str, at: int | None) -> UserError:
    sought = "; or ".join(misfit.sought)
    if misfit.several:
        lines = source_lines(source)
        listed = "\n".join(f"  line {place.line}: {lines[place.line - 1].strip()}" for place in misfit.several)
        return UserError(
            f"{owner} fits {len(misfit.several)} places in {label} (looked for: {sought}):\n{listed}\n"
            f"Choose one with --at LINE, for example --at {misfit.several[0].line}."
        )
    where = f" at line {at}" if at is not None else ""
    return UserError(f"{owner} does not fit {label}: the code that it changes is missing{where}. Looked for: {sought}.")


def _edits(
    script: Script, edits: Written, params: Mapping[str, object], owner: str, label: str, at: int | None
) -> list[Edit]:
    steps: list[Step] = []
    for entry in together(edits):
        try:
            steps += _plan(script, entry, at)
        except _Misfit as misfit:
            raise _refuse(misfit, script.source, owner, label, at) from None
    shared: dict[str, str] = {}
    for edit, place, _ in reversed(steps):  # of two places with one name, the first counts
        shared |= _told(script, edit.place, place) if isinstance(edit, Change) else place.names()
    replacements = []
    for edit, place, lent in steps:
        if isinstance(edit, Swap):
            cuts = render_swap(script, place, edit, params)
        else:
            cuts = render_change(script, place, edit, shared | lent, params)
        claim = place.start, place.end
        replacements += [Edit(start, end, text, owner, place.line, claim) for start, end, text in cuts]
    return replacements


def _in_order(source: str, edits: list[Edit], label: str) -> tuple[Edit, ...]:
    """Return the edits sorted by place. Raises UserError if two faults change one place."""
    edits = sorted(edits, key=lambda edit: (edit.start, edit.end))
    for first, second in pairwise(edits):
        if second.start < first.end or (second.start, second.end) == (first.start, first.end):
            _conflict(first, second, label)
    for first in edits:  # a place belongs to one fault, even if another fault writes a different part of it
        for second in edits:
            if first.owner < second.owner and first.claim[0] < second.claim[1] and second.claim[0] < first.claim[1]:
                _conflict(first, second, label)
    return tuple(edits)


def _conflict(one: Edit, two: Edit, label: str) -> None:
    raise UserError(
        f"{one.owner} and {two.owner} both change line {max(one.line, two.line)} of {label}; "
        "they cannot be combined there. Use only one of them, or another program."
    )


def inject(
    source: str,
    faults: Iterable[tuple[Fault, Mapping[str, object]]],
    label: str = "this script",
    at: int | None = None,
) -> Injection:
    """Find all edits of all faults in `source` and apply them together.

    `at` (a line number) chooses the place if an edit fits several.
    Raises UserError for a syntax error in `source`, an edit that does not fit exactly once, or two faults at one place.
    """
    check_syntax(source, label)
    script, edits, faults = read(source), [], list(faults)
    for fault, params in faults:
        edits += _edits(script, fault.edits, params, fault.id, label, at)
    for fault, _ in faults:
        fault_edits = [edit for edit in edits if edit.owner == fault.id]
        if all(source[edit.start : edit.end] == edit.text for edit in fault_edits):
            line = fault_edits[0].line
            raise UserError(f"{fault.id} would change nothing in {label}: line {line} already has this fault.")
    result = Injection(source, _in_order(source, edits, label))
    owners = sorted({edit.owner for edit in edits})
    try:
        _check_compiles(result.broken, f"{label} after {', '.join(owners)}")
    except UserError as error:  # the place is written in a style that the edit cannot handle
        sought = "; ".join(str(entry) for fault, _ in faults for entry in together(fault.edits))
        raise UserError(f"{error} Nothing was changed. Looked for: {sought}.") from None
    return result


def misfit(source: str, fault: Fault, label: str) -> str:
    """Return why a fault does not fit a text, in the words of `inject`. Empty if every edit fits. Changes nothing."""
    for entry in together(fault.edits):
        try:
            _plan(read(source), entry, None)
        except _Misfit as failed:
            return str(_refuse(failed, source, fault.id, label, None))
    return ""


def change(
    source: str,
    edits: Written,
    params: Mapping[str, object] | None = None,
    owner: str = "the edit",
    label: str = "this program",
    at: int | None = None,
) -> Injection:
    """Apply the edits of a repair or a pretence to a (broken) text. Raises UserError as `inject` does."""
    check_syntax(source, label)
    replacements = _edits(read(source), edits, params or {}, owner, label, at)
    result = Injection(source, _in_order(source, replacements, label))
    _check_compiles(result.broken, f"{label} after {owner}")
    return result


def check_syntax(source: str, label: str) -> None:
    """Raise UserError with line and reason if the text is not Python."""
    if wrong := _not_python(source):
        raise UserError(f"{label} is not valid Python: {wrong}.")


@lru_cache(maxsize=256)
def _not_python(source: str) -> str:
    """Return why the text is not Python, empty if it is. Cached, because many edits are tried in one text."""
    try:
        parse(source)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        return getattr(error, "msg", str(error)) + (f" (line {line})" if line else "")
    return ""


def _check_compiles(source: str, label: str) -> None:
    """Check like check_syntax, including errors that only the compiler finds, such as a repeated argument."""
    if wrong := _not_compiled(source):
        raise UserError(f"{label} is not valid Python: {wrong}.")


@lru_cache(maxsize=1024)
def _not_compiled(source: str) -> str:
    """Return why the text does not compile, empty if it does. Cached, because proofs make the same texts many times."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the script's own warnings, such as an invalid escape
            compile(source, "<edited>", "exec", dont_inherit=True)
    except SyntaxError as error:
        return f"{error.msg} (line {error.lineno})"
    except ValueError as error:
        return str(error)
    return ""


def diff(before: str, after: str, label: str = "train.py") -> str:
    """Return the unified diff, the answer key of every scenario."""
    lines = difflib.unified_diff(
        source_lines(before, keepends=True),
        source_lines(after, keepends=True),
        f"healthy/{label}",
        f"broken/{label}",
        n=2,
    )
    return "".join(lines)
