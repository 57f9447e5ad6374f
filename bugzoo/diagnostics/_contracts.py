"""Broken contracts in a checkup: each is a finding, and a suspect where what it explains is seen as well."""

import linecache
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from bugzoo.contracts import Finding, contract
from bugzoo.diagnostics._effects import EFFECTS
from bugzoo.diagnostics._origin import lost, origin
from bugzoo.diagnostics._rank import Ranked
from bugzoo.plain import plain

if TYPE_CHECKING:
    from bugzoo.running.result import Run

CERTAIN = 1.0
"""Score of a broken demand of which the effect is seen: above every statistical reading."""


@dataclass(frozen=True)
class Broken:
    """A finding in words. `effect`: what was seen of it in the run, "" for nothing."""

    contract: str
    file: str
    line: int
    """The line that makes the argument at fault, or that of the call."""
    called: int
    """The line of the call."""
    demand: str
    given: str
    instead: str
    page: str
    effect: str
    silenced: str

    def to_json(self) -> dict[str, Any]:
        return plain(asdict(self))


def broken(run: "Run") -> list[Broken]:
    """Return what the script's calls did not meet: those whose effect is seen first, then by line."""
    breaches = [_told(finding, run) for finding in run.trace.findings]
    return sorted(breaches, key=lambda one: (bool(one.silenced), not one.effect, one.file, one.line))


def _told(one: Finding, run: "Run") -> Broken:
    declared = contract(one.contract)
    effect = next((name for name in declared.explains if EFFECTS[name](run)), "")
    sentence = declared.given.format(**one.numbers)
    text, line = "".join(linecache.getlines(one.file)), one.line
    if declared.argument[1]:
        line = origin(text, line, *declared.argument)
        sentence += f" It is made in line {line} and passed in line {one.line}." if line != one.line else ""
    elif declared.handle:
        line = lost(text, line)
        sentence += (
            f" Its handle is kept in line {one.line} and thrown away in line {line}." if line != one.line else ""
        )
    words = (declared.demand, sentence, declared.instead, declared.page)
    return Broken(one.contract, one.file, line, one.line, *words, effect, one.silenced)


def joined(found: list[Broken], ranked: list[Ranked]) -> list[Ranked]:
    """Return one suspect for each contract whose effect is seen, in the order given, and then the other suspects.

    Where an instrument names a cause that the breach may be, the suspect is that cause, with its line and the contract's words.
    """
    first: dict[str, Ranked] = {}
    rest = {one.cause: one for one in ranked}
    for one in found:
        if not one.effect or one.silenced or any(one.contract in suspect.instruments for suspect in first.values()):
            continue
        new = Ranked(one.contract, CERTAIN, f"{one.demand} {one.given}", one.file, one.line, (one.contract,))
        named = next((name for name in contract(one.contract).causes if name in rest or name in first), "")
        if named in first:  # two contracts that are one cause
            suspect = first[named]
            first[named] = replace(suspect, instruments=(*suspect.instruments, one.contract))
            continue
        if named:
            suspect = rest.pop(named)
            at = (suspect.file, suspect.line) if suspect.line else (one.file, one.line)
            instruments = (one.contract, *suspect.instruments)
            new = replace(new, cause=named, file=at[0], line=at[1], instruments=instruments)
        first[new.cause] = new
    return [*first.values(), *rest.values()]
