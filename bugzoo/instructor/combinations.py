"""Combinations of faults, and what was measured of each: does every fault still show when the others are there?

A fault may also stand with a decoy, which is a trap: is the decoy harmless beside it (`proving.decoys`)?

`beside` in the files of faults is the list; `prove` measures what the ledger (`proofs/combinations/<program>.json`) lacks. The
ledger also records which fault masks which. `bugzoo assign` refuses such a combination without a run.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from bugzoo import faults as catalogue
from bugzoo.fingerprint import code_of
from bugzoo.proving import code, decoys, ledger
from bugzoo.proving.cells import named
from bugzoo.scenario import Scenario, parse_spec

KIND = "combinations"
SEEDS = (0, 1, 2)
Progress = Callable[[int, int], None]


@dataclass
class Combination:
    """One combination and its ledger entry. `problems`: which fault masks which, in numbers; empty if all show."""

    program: str
    faults: tuple[str, ...]
    """Specs; of a decoy the fault, then the trap."""
    known: bool = False
    problems: list[str] = field(default_factory=list)
    hidden: dict[str, list[str]] = field(default_factory=dict)
    """Masked fault -> the faults that mask it."""

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(parse_spec(spec)[0] for spec in self.faults)

    @property
    def name(self) -> str:
        return " + ".join(self.faults)

    @property
    def with_trap(self) -> bool:
        return catalogue.load(self.ids[-1]).trap

    @property
    def decoy(self) -> Scenario | None:
        """Return the scenario of a fault with a decoy; None for faults alone."""
        return Scenario(self.program, self.faults[:-1], decoy=self.faults[-1]) if self.with_trap else None

    def _said(self) -> tuple[Any, ...]:
        """Return the source texts of all seeds, and each fault's claims."""
        if self.decoy:
            return decoys.said(self.decoy)
        cases = [Scenario(self.program, self.faults, seed=seed) for seed in SEEDS]
        return [case.source for case in cases], [(f.id, f.evidence, f.effect) for f, _ in cases[0].specs]

    @property
    def key(self) -> str:
        """Key in the ledger: what was proved, and the code that runs and measures."""
        if self.decoy:
            return decoys.key_of(self.decoy)
        names = code.everything().union(*(named(fault) for fault, _ in Scenario(self.program, self.faults).specs))
        by = code_of("bugzoo.instructor.visible:_sight")
        return code.keyed(self._said(), (code.core(), by, code.instruments(names)))

    def read(self) -> "Combination":
        """Return it with its ledger entry, if that entry is about the same faults and texts."""
        entry = ledger.read(KIND, self.program).get(self.name, {})
        self.known = code.about(entry.get("key", "")) == code.about(code.keyed(self._said(), ()))
        if self.known:
            self.problems, self.hidden = entry["problems"], entry["hidden"]
        return self

    def entry(self) -> dict[str, Any]:
        return {"key": self.key, "problems": self.problems, "hidden": self.hidden, "with": ledger.environment()}


def every() -> list[Combination]:
    """Return the combinations that the files of faults name, by program; those with a decoy come last."""
    rows = [(fault.id, *row) for fault in catalogue.catalogue().values() for row in fault.beside.items()]
    combinations = [
        Combination(program, (name, *others.split(" + "))) for name, program, some in rows for others in some
    ]
    return sorted(combinations, key=lambda one: (one.with_trap, one.program))


def listed(
    only: Iterable[str] = (), programs: Iterable[str] = (), progress: Progress | None = None
) -> list[Combination]:
    """Return the listed combinations with all faults of `only`, on `programs` (default: all), with ledger entries.

    Faults with a decoy come last.
    """
    ids, places = set(only), set(programs)
    chosen = [entry for entry in every() if ids <= set(entry.ids) and (not places or entry.program in places)]
    for count, combination in enumerate(chosen, 1):
        combination.read()
        if progress:
            progress(count, len(chosen))
    return chosen


def prove(chosen: Iterable[Combination], progress: Progress | None = None, fresh: bool = False) -> list[Combination]:
    """Measure the chosen combinations that the ledger lacks, and save each result at once."""
    chosen = list(chosen)
    for count, combination in enumerate(chosen):
        if progress:
            progress(count, len(chosen))
        if combination.known and not fresh:
            continue
        if combination.decoy:
            combination.problems, combination.hidden = decoys.problems(combination.decoy, fresh=fresh), {}
        else:
            combination.problems, combination.hidden = _masked(combination, fresh)
        combination.known = True
        entries = ledger.read(KIND, combination.program) | {combination.name: combination.entry()}
        ledger.write(KIND, combination.program, dict(sorted(entries.items())))
    if progress:
        progress(len(chosen), len(chosen))
    return chosen


def _masked(one: Combination, fresh: bool) -> tuple[list[str], dict[str, list[str]]]:
    """Measure a combination of faults; return its problems, and masked fault -> the faults that mask it."""
    from bugzoo.instructor.model import Assignment
    from bugzoo.instructor.visible import look

    sights = [sight for sight in look(Assignment(one.program, one.faults), fresh=fresh) if sight.problem]
    return [sight.problem for sight in sights], {sight.fault: sight.hidden_by for sight in sights}


def hides(program: str, specs: Iterable[str]) -> list[str]:
    """Return the ledger's problems with these faults on this program, same parameters; nothing is run."""
    settings = {_settled(spec) for spec in specs}
    there = [combination for combination in every() if combination.program == program and not combination.with_trap]
    inside = [combination for combination in there if {_settled(spec) for spec in combination.faults} <= settings]
    return [problem for combination in inside for problem in combination.read().problems]


def _settled(spec: str) -> tuple[str, tuple[tuple[str, float | int], ...]]:
    fault_id, values = parse_spec(spec)
    return fault_id, tuple(sorted(values.items()))
