"""Does each fault show while the others are there? Measured by runs: the combination, and with each fault removed.

In a useful combination a student can find every fault, whichever comes first. So each fault's evidence from the
catalogue must hold in the combination, and must be gone when that fault alone is repaired.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bugzoo.faults.evidence import number, parse
from bugzoo.faults.model import Fault
from bugzoo.grading.partial_credit import without
from bugzoo.instructor.model import GRADING_SEEDS, Assignment
from bugzoo.proving.cells import fired, named
from bugzoo.proving.code import everything
from bugzoo.proving.measured import measured
from bugzoo.running import Limits
from bugzoo.scenario import Scenario

Progress = Callable[[int, int], None]
RUNS = 3
"""Seeds: the assignment's own, filled up to three with the grader's."""


@dataclass
class Sign:
    """One piece of evidence: its number on each seed with all faults there, and with its own fault repaired."""

    claim: str
    together: list[float | str | None]
    repaired: list[float | str | None]


@dataclass
class Sight:
    """How one fault shows in the combination. `problem` is empty if it does."""

    fault: str
    signs: list[Sign] = field(default_factory=list)
    effect: str = ""
    effect_seen: int = 0
    """Seeds on which the half-repaired program and the combination differ by the fault's declared effect."""
    instruments: list[str] = field(default_factory=list)
    """Instruments that fire in the combination and are quiet once this fault alone is repaired, on every seed."""
    problem: str = ""
    hidden_by: list[str] = field(default_factory=list)


def seeds_of(assignment: Assignment) -> tuple[int, ...]:
    return tuple(dict.fromkeys((assignment.seed, *GRADING_SEEDS)))[:RUNS]


def look(assignment: Assignment, progress: Progress | None = None, fresh: bool = False) -> list[Sight]:
    """Return one Sight per fault, in the order given. Runs only what was not measured before."""
    seeds, ids = seeds_of(assignment), assignment.ids
    cases: dict[frozenset[str], list[Scenario]] = {frozenset(): [assignment.at(seed) for seed in seeds]}
    for fault_id in ids:
        others = tuple(name for name in ids if name != fault_id)
        for taken in ((fault_id,), others):  # only this one repaired, then only this one there
            cases[frozenset(taken)] = [without(assignment.at(seed), taken) for seed in seeds]
    measurements = measure([case for group in cases.values() for case in group], progress, fresh)
    results = {taken: measurements[i * len(seeds) : (i + 1) * len(seeds)] for i, taken in enumerate(cases)}
    return [_sight(fault, results, ids, assignment.program) for fault, _ in assignment.scenario.specs]


def measure(cases: Sequence[Scenario], progress: Progress | None = None, fresh: bool = False) -> list[dict[str, Any]]:
    """Return {"outcome", "metrics", "numbers", ...} per scenario, from a worker; cached results are not re-run."""
    # matched: the same limits for all, so that the cache can share twins
    # a second run, where named
    instruments = everything().union(*(named(fault) for case in cases for fault, _ in case.specs))
    jobs = [(case.job(limits=Limits(seconds=120)), instruments) for case in cases]
    return measured(jobs, None, progress, fresh)[0]


Seeds = list[dict[str, Any]]
Results = dict[frozenset[str], Seeds]


def _sight(fault: Fault, results: Results, ids: tuple[str, ...], program: str) -> Sight:
    together, repaired = results[frozenset()], results[frozenset({fault.id})]
    alone = results[frozenset(ids) - {fault.id}]
    sight = Sight(fault.id, effect=fault.effect)
    for text in fault.evidence:
        name = parse(text).left
        sight.signs.append(Sign(text, _numbers(together, name), _numbers(repaired, name)))
    effect = parse(fault.effect)
    pairs, ends = list(zip(together, repaired, strict=True)), effect.left == "outcome"
    sight.effect_seen = sum(effect.holds(*pair) and not (ends and effect.holds(pair[1])) for pair in pairs)
    ringing = [set(fired(broken)) - set(fired(mended)) for broken, mended in pairs]
    sight.instruments = sorted(set.intersection(*ringing))
    sight.problem = _problem(fault, together, repaired, alone, ids, program)
    if sight.problem:
        sight.hidden_by = _culprits(fault, results, ids)
    return sight


def _problem(fault: Fault, together: Seeds, repaired: Seeds, alone: Seeds, ids: tuple[str, ...], program: str) -> str:
    """Return why this fault is useless in the combination, in numbers; empty if it is fine."""
    others = " and ".join(name for name in ids if name != fault.id)
    for text in fault.evidence:
        claim, of = parse(text), len(together)
        count = sum(claim.holds(result) for result in together)
        if count < of:
            single = sum(claim.holds(result) for result in alone)
            numbers, usual = (_shown(_numbers(results, claim.left)) for results in (together, alone))
            if len(ids) == 1:
                return f"{fault.id} does not show on {program}: `{text}` holds on {count} of {of} seeds ({numbers})"
            holds = f"`{text}` holds on {single} of {of} seeds"
            if single < of:
                return f"{fault.id} does not show on {program} even alone: {holds} ({usual})"
            return (
                f"{others} masks {fault.id}: {holds} without it ({usual}), and on {count} of {of} with it ({numbers})"
            )
    still = [all(parse(text).holds(result) for text in fault.evidence) for result in repaired]
    if any(still):
        text = fault.evidence[0]
        numbers = _shown(_numbers(repaired, parse(text).left))
        holds = f"`{text}` still holds on {sum(still)} of {len(still)} seeds ({numbers})"
        problem = f"{others} masks the repair of {fault.id}: once it is repaired and the rest is still there"
        return f"{problem}, {holds}, so no number shows that it is gone"
    return ""


def _culprits(fault: Fault, results: Results, ids: tuple[str, ...]) -> list[str]:
    """Return which faults mask it: each one whose repair brings back the evidence, or all if none does alone."""
    claims = [parse(text) for text in fault.evidence]
    others = [name for name in ids if name != fault.id]
    guilty = [name for name in others if all(claim.holds(r) for r in results[frozenset({name})] for claim in claims)]
    return guilty or others


def _numbers(results: Seeds, name: str) -> list[float | str | None]:
    values = [number(result, name) for result in results]
    return [str(value) if value == float("inf") else value for value in values]


def _shown(numbers: list[float | str | None]) -> str:
    texts = ["nothing" if value is None else value if isinstance(value, str) else f"{value:.3g}" for value in numbers]
    return f"saw {', '.join(texts)}"
