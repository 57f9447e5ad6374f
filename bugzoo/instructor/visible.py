"""Does each fault show while the others are there? Measured by runs: the combination, and with each fault taken out.

A combination is of use only when whoever looks can find every fault in it, whichever is found first. So the evidence
that the catalogue states for a fault must hold in the combination, and must be gone when that fault alone is repaired.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from bugzoo.faults.evidence import number, parse
from bugzoo.faults.model import Fault
from bugzoo.grading.half_repairs import without
from bugzoo.instructor.model import GRADING_SEEDS, Assignment
from bugzoo.proving.cells import fired, named
from bugzoo.proving.code import everything
from bugzoo.proving.measured import measured
from bugzoo.running import Limits
from bugzoo.scenario import Scenario

Progress = Callable[[int, int], None]
RUNS = 3
"""Seeds: the assignment's own, and as many of the grader's as make three."""


@dataclass
class Sign:
    """One piece of evidence: its number on each seed with all faults there, and with its own fault repaired."""

    claim: str
    together: list[float | str | None]
    repaired: list[float | str | None]


@dataclass
class Sight:
    """How one fault shows in the combination. `problem` is empty when it does."""

    fault: str
    signs: list[Sign] = field(default_factory=list)
    effect: str = ""
    effect_seen: int = 0
    """Seeds on which the fault's declared effect is seen between the half-repaired program and the combination."""
    instruments: list[str] = field(default_factory=list)
    """Instruments that fire in the combination and fall silent when this fault alone is repaired, on every seed."""
    problem: str = ""
    hidden_by: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def seeds_of(assignment: Assignment) -> tuple[int, ...]:
    return tuple(dict.fromkeys((assignment.seed, *GRADING_SEEDS)))[:RUNS]


def look(assignment: Assignment, progress: Progress | None = None, fresh: bool = False) -> list[Sight]:
    """One Sight a fault, in the order given. Runs what has not been measured before."""
    seeds, ids = seeds_of(assignment), assignment.ids
    cases: dict[frozenset[str], list[Scenario]] = {frozenset(): [assignment.at(seed) for seed in seeds]}
    for fault_id in ids:
        others = tuple(name for name in ids if name != fault_id)
        for taken in ((fault_id,), others):  # repaired alone, and there alone
            cases[frozenset(taken)] = [without(assignment.at(seed), taken) for seed in seeds]
    found = measure([case for group in cases.values() for case in group], progress, fresh)
    results = {taken: found[i * len(seeds) : (i + 1) * len(seeds)] for i, taken in enumerate(cases)}
    return [_sight(fault, results, ids, assignment.program) for fault, _ in assignment.scenario.specs]


def measure(cases: Sequence[Scenario], progress: Progress | None = None, fresh: bool = False) -> list[dict[str, Any]]:
    """{"outcome", "metrics", "numbers", ...} of each scenario, in a worker; what is known already is not run again."""
    # matched: everything under the same limits, so that the cache may share twins
    asked = everything().union(
        *(named(fault) for case in cases for fault, _ in case.specs)
    )  # a second run, where named
    wanted = [(case.job(limits=Limits(seconds=120)), asked) for case in cases]
    return measured(wanted, None, progress, fresh)[0]


Results = dict[frozenset[str], list[dict[str, Any]]]


def _sight(fault: Fault, results: Results, ids: tuple[str, ...], program: str) -> Sight:
    together, repaired = results[frozenset()], results[frozenset({fault.id})]
    alone = results[frozenset(ids) - {fault.id}]
    sight = Sight(fault.id, effect=fault.effect)
    for text in fault.evidence:
        name = parse(text).left
        sight.signs.append(Sign(text, _numbers(together, name), _numbers(repaired, name)))
    effect = parse(fault.effect)
    sight.effect_seen = sum(
        effect.holds(broken, mended) and not (effect.left == "outcome" and effect.holds(mended))
        for broken, mended in zip(together, repaired, strict=True)
    )
    ringing = [set(fired(broken)) - set(fired(mended)) for broken, mended in zip(together, repaired, strict=True)]
    sight.instruments = sorted(set.intersection(*ringing))
    sight.problem = _problem(fault, together, repaired, alone, ids, program)
    if sight.problem:
        sight.hidden_by = _culprits(fault, results, ids)
    return sight


def _problem(fault: Fault, together: list, repaired: list, alone: list, ids: tuple[str, ...], program: str) -> str:
    """Why this fault is of no use in the combination, in numbers; empty when it is."""
    others = " and ".join(name for name in ids if name != fault.id)
    for text in fault.evidence:
        claim, of = parse(text), len(together)
        seen = sum(claim.holds(result) for result in together)
        if seen < of:
            single = sum(claim.holds(result) for result in alone)
            numbers = _numbers(together, claim.left)
            if len(ids) == 1:
                return (
                    f"{fault.id} does not show on {program}: `{text}` holds on {seen} of {of} seeds ({_shown(numbers)})"
                )
            if single < of:
                return (
                    f"{fault.id} does not show on {program} even alone: `{text}` holds on {single} of {of} seeds "
                    f"({_shown(_numbers(alone, claim.left))})"
                )
            return (
                f"{others} hides {fault.id}: `{text}` holds on {single} of {of} seeds when it is alone "
                f"({_shown(_numbers(alone, claim.left))}), and on {seen} of {of} beside it ({_shown(numbers)})"
            )
    still = [all(parse(text).holds(result) for text in fault.evidence) for result in repaired]
    if any(still):
        text = fault.evidence[0]
        numbers = _numbers(repaired, parse(text).left)
        return (
            f"{others} hides the repair of {fault.id}: with it repaired and the rest still there, `{text}` holds all the "
            f"same on {sum(still)} of {len(still)} seeds ({_shown(numbers)}), so that nothing tells whether it is gone"
        )
    return ""


def _culprits(fault: Fault, results: Results, ids: tuple[str, ...]) -> list[str]:
    """Who hides it: each other fault whose repair lets the evidence out; all others where none does so by itself."""
    claims = [parse(text) for text in fault.evidence]
    others = [name for name in ids if name != fault.id]
    guilty = [name for name in others if all(claim.holds(r) for r in results[frozenset({name})] for claim in claims)]
    return guilty or others


def _numbers(results: list[dict[str, Any]], name: str) -> list[float | str | None]:
    found = [number(result, name) for result in results]
    return [str(value) if value == float("inf") else value for value in found]


def _shown(numbers: list[float | str | None]) -> str:
    return "saw " + ", ".join(
        "nothing" if value is None else value if isinstance(value, str) else f"{value:.3g}" for value in numbers
    )
