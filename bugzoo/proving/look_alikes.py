"""Do the tests that tell two faults apart tell them apart? Both are run, where both fit one program."""

from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import dataclass

from bugzoo import diagnostics
from bugzoo import faults as catalogue
from bugzoo.faults.evidence import number, parse
from bugzoo.faults.model import Fault, LookAlike
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
    """The look-alikes of a fault that a number tells, each on the first program that both fit."""
    for one in fault.look_alikes:
        if one.claims[0] and one.other in catalogue.catalogue():
            others = fits(catalogue.load(one.other))
            yield from [Pair(fault, one, program) for program in fits(fault) if program in others][:1]


def prove(pair: Pair, executor: Executor | None = None, fresh: bool = False) -> list[str]:
    """What is not as the look-alike says, in sentences: one seed of both faults, in workers. Results are kept."""
    from bugzoo.proving.measured import measured

    sides = (pair.fault.id, pair.look_alike.other)
    asked = []
    for fault_id, claims in zip(sides, pair.look_alike.claims, strict=True):
        names = {parse(text).instrument for text in claims} & set(diagnostics.names())
        asked.append((Scenario(pair.program, (fault_id,)).job(), names))
    results, _, _ = measured(asked, executor, fresh=fresh)
    problems = []
    for fault_id, claims, result in zip(sides, pair.look_alike.claims, results, strict=True):
        for text in claims:
            if not parse(text).holds(result):
                saw = result["outcome"] if text.startswith("outcome") else number(result, parse(text).left)
                problems.append(f"{fault_id} on {pair.program}: `{text}` does not hold (saw {saw})")
    return problems
