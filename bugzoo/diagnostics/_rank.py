"""Suspects in order, the likeliest first, and how each relates to the stronger ones.

A suspect that follows from a stronger one is `explained_by` it. One with the very same evidence is another reading,
`instead_of` it. All others need a look of their own, whatever the first one turns out to be.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

from bugzoo.diagnostics.causes import cause
from bugzoo.diagnostics.verdict import Suspect, Verdict

STRONG = 0.6
"""Score from which a suspect is named, and explains what usually follows from it. Below it is a reading: what was measured
is told, and no cause is named."""


@dataclass(frozen=True)
class Ranked(Suspect):
    """A suspect, the instruments that named it, and its relation to a stronger one (a cause, or "")."""

    instruments: tuple[str, ...] = ()
    explained_by: str = ""
    instead_of: str = ""


def rank(verdicts: Iterable[Verdict]) -> list[Ranked]:
    """Suspects of the verdicts that fired, one per cause, the likeliest first.

    A suspect that a well-supported one explains counts half; one that two instruments name counts a little more.
    """
    best: dict[str, Ranked] = {}
    for verdict in verdicts:
        for suspect in verdict.suspects if verdict.fired else ():
            best[suspect.cause] = _joined(best.get(suspect.cause), suspect, verdict.instrument)
    suspects = sorted(best.values(), key=lambda s: -s.score)
    explained = [_explained(suspect, suspects) for suspect in suspects]
    ranked = sorted(explained, key=lambda s: (-s.score, s.explained_by != ""))
    return [_another_reading(suspect, ranked[:place]) for place, suspect in enumerate(ranked)]


def _joined(known: Ranked | None, suspect: Suspect, instrument: str) -> Ranked:
    values = {field.name: getattr(suspect, field.name) for field in fields(Suspect)}
    new = Ranked(**values, instruments=(instrument,))
    if known is None:
        return new
    first, second = sorted((known, new), key=lambda s: (-s.score, s.line is None))
    at = first if first.line else second
    score = min(1.0, first.score + 0.1 * second.score)
    instruments = tuple(dict.fromkeys((*known.instruments, instrument)))
    return replace(first, score=score, file=at.file, line=at.line, instruments=instruments)


def _explained(suspect: Ranked, found: list[Ranked]) -> Ranked:
    for other in found:
        mutual = _follows(other, suspect) and other.score == suspect.score and found.index(other) > found.index(suspect)
        if _follows(suspect, other) and other.score >= max(suspect.score, STRONG) and not mutual:
            return replace(suspect, score=suspect.score * 0.5, explained_by=other.cause)
    return suspect


def _follows(suspect: Suspect, other: Suspect) -> bool:
    return suspect.cause.startswith(cause(other.cause).explains) and other.cause != suspect.cause


def root(suspect: Ranked, suspects: Iterable[Ranked]) -> Ranked:
    """The suspect that this one belongs to: itself where no other explains or replaces it."""
    left = {other.cause: other for other in suspects}
    while above := left.pop(
        suspect.explained_by or suspect.instead_of, None
    ):  # each once: three could explain in a ring
        suspect = above
    return suspect


def apart(ranked: Iterable[Ranked]) -> tuple[list[Ranked], list[Ranked]]:
    """Return (suspects, readings): what is strong, or belongs to what is strong, and the rest."""
    ranked = list(ranked)
    strong = [suspect for suspect in ranked if root(suspect, ranked).score >= STRONG]
    return strong, [suspect for suspect in ranked if suspect not in strong]


def _another_reading(suspect: Ranked, stronger: list[Ranked]) -> Ranked:
    """The suspect, marked `instead_of` a stronger one where only instruments that named that one named it."""
    if suspect.explained_by:
        return suspect
    other = next((rival for rival in stronger if set(suspect.instruments) <= set(rival.instruments)), None)
    return replace(suspect, instead_of=other.cause) if other else suspect
