"""Do discriminating tests really tell two faults apart? Both faults are run on a program that both fit."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bugzoo import diagnostics
from bugzoo import faults as catalogue
from bugzoo.faults.evidence import number, parse
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.fingerprint import code_of
from bugzoo.proving import code
from bugzoo.scenario import Scenario, fits


@dataclass(frozen=True)
class Pair:
    """A fault, one of its look-alikes, and a program that both fit."""

    fault: Fault
    look_alike: LookAlike
    program: str

    def __str__(self) -> str:
        return f"{self.fault.id} and {self.look_alike.other} on {self.program}"


def pairs(fault: Fault) -> Iterator[Pair]:
    """Yield look-alikes that a number tells apart, each on the first program that both fit and a CPU can run."""
    for look_alike in fault.look_alikes:
        if look_alike.claims[0] and look_alike.other in catalogue.catalogue():
            other = catalogue.load(look_alike.other)
            others = () if fault.needs.cuda or other.needs.cuda else fits(other)
            yield from [Pair(fault, look_alike, program) for program in fits(fault) if program in others][:1]


def wanted(pair: Pair) -> list[tuple[Any, frozenset[str]]]:
    """Return (job, instruments) of both sides: the first seed of both faults, as in their own cells."""
    return [(Scenario(pair.program, (name,)).job(), frozenset(_instruments(claims))) for name, claims in sides(pair)]


def sides(pair: Pair) -> list[tuple[str, tuple[str, ...]]]:
    """Return (fault, its claims), for this one and the other."""
    return list(zip((pair.fault.id, pair.look_alike.other), pair.look_alike.claims, strict=True))


def judge(pair: Pair, results: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return sentences on claims of the look-alike that do not hold."""
    problems = []
    for (fault_id, claims), result in zip(sides(pair), results, strict=True):
        for text in claims:
            if not parse(text).holds(result):
                saw = result["outcome"] if text.startswith("outcome") else number(result, parse(text).left)
                problems.append(f"{fault_id} on {pair.program}: `{text}` does not hold (saw {saw})")
    return problems


def key_of(pair: Pair) -> str:
    """Return the key of all that the verdict on a pair depends on."""
    cases = [(Scenario(pair.program, (fault_id,)), claims) for fault_id, claims in sides(pair)]
    subjects = [(case.source, case.needs, claims, sorted(_instruments(claims))) for case, claims in cases]
    measuring = [(name, code.measuring(name)) for name in sorted({name for subject in subjects for name in subject[3]})]
    by = code_of("bugzoo.proving.look_alikes:judge", without=code.TEXTS)
    return code.keyed((subjects,), (code.core(), measuring, by))


def _instruments(claims: tuple[str, ...]) -> set[str]:
    return {parse(text).instrument for text in claims} & set(diagnostics.names())
