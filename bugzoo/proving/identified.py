"""`bugzoo check` of the line-ups: the ill run shows its evidence, no instrument fires on the others, the right answer earns
everything and no other one does.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from bugzoo.faults.evidence import parse
from bugzoo.grading.lineup import lineups, load
from bugzoo.grading.lineup.answer import filled, judge
from bugzoo.grading.lineup.model import LETTERS, NONE, Lineup
from bugzoo.proving import code, ledger
from bugzoo.proving.cells import fired, named
from bugzoo.proving.measured import measured

KIND = "lineups"


@dataclass
class Proof:
    """What was found for one line-up. `fired`: letter -> instruments."""

    lineup: str
    fired: dict[str, list[str]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    cached: bool = False

    @property
    def proved(self) -> bool:
        return not self.problems


def key_of(lineup: Lineup) -> str:
    """Everything that its proof depends on."""
    texts = [(letter, one.scenario.source, one.ill) for letter, one in lineup.runs.items()]
    said = (lineup.ill, lineup.causes, lineup.evidence, texts)
    return code.keyed(said, (code.core(), code.instruments(_asked(lineup))))


def check(
    names: Iterable[str] = (), tell: Callable[[int, int], None] | None = None, fresh: bool = False
) -> list[Proof]:
    """Prove line-ups, all by default. What the ledger holds is believed. Raises UserError for an unknown name."""
    chosen = list(dict.fromkeys(load(name).name for name in names)) or list(lineups())
    proofs = []
    for name in chosen:
        lineup, entry = load(name), ledger.read(KIND, name)
        if not fresh and entry.get("key") == key_of(lineup):
            proofs.append(Proof(name, entry["fired"], cached=True))
            continue
        proof = prove(lineup, tell, fresh)
        proofs.append(proof)
        if proof.proved:
            ledger.write(KIND, name, {"key": key_of(lineup), "fired": proof.fired, "with": ledger.environment()})
    return proofs


def prove(lineup: Lineup, tell: Callable[[int, int], None] | None = None, fresh: bool = False) -> Proof:
    """Run all five and ask every instrument."""
    proof = Proof(lineup.name, problems=answers(lineup))
    wanted = [(one.scenario.job(), _asked(lineup)) for one in lineup.runs.values()]
    results, _, _ = measured(wanted, progress=tell, fresh=fresh)
    for (letter, one), result in zip(lineup.runs.items(), results, strict=True):
        alarms = fired(result)
        proof.fired[letter] = sorted(alarms)
        if one.ill:
            proof.problems += _shown(letter, one.scenario.specs[0][0].evidence, result, alarms)
            continue
        if result["outcome"] != "finished":
            proof.problems.append(f"{letter} is well and ended as {result['outcome']}")
        proof.problems += [f"{letter} is well, and {name} fires: {said}" for name, said in sorted(alarms.items())]
    return proof


def _shown(letter: str, evidence: Iterable[str], result: dict[str, Any], alarms: dict[str, str]) -> list[str]:
    problems = [f"{letter} is ill and does not show it: {text}" for text in evidence if not parse(text).holds(result)]
    return problems if alarms else [*problems, f"{letter} is ill and no instrument fires"]


def _asked(lineup: Lineup) -> frozenset[str]:
    own = [named(fault) for one in lineup.candidates if (found := one.about_fault) and not (fault := found[0]).trap]
    return code.everything().union(*own)


def answers(lineup: Lineup) -> list[str]:
    """What is wrong about what answers earn: sentences."""
    right, problems = filled(lineup), []
    if (earned := judge(lineup, right).share) != 1:
        problems.append(f"the right answer earns {earned:.0%}")
    for letter in (*LETTERS, NONE):
        if letter != lineup.ill and judge(lineup, right | {"run": letter}).share:
            problems.append(f"{letter} is not the run, and earns something")
    if lineup.ill != NONE:
        others = [cause for cause in lineup.offered if cause not in lineup.causes]
        problems += [f"{c!r} earns all" for c in others if judge(lineup, right | {"cause": c}).share == 1]
    return problems
