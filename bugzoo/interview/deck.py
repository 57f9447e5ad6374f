"""Which case comes: drawn by how often interviewers ask for it, always the same for one seed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from bugzoo import faults, programs, seeds
from bugzoo.choices import Choices, choices
from bugzoo.errors import UserError, unknown
from bugzoo.faults.model import Fault
from bugzoo.interview.draws import one_of, share, weighted
from bugzoo.proving import ledger
from bugzoo.proving.tried import impossible
from bugzoo.scenario import Scenario, fits

WEIGHTS = {"NaN and loss": 90, "not learning": 80, "leakage and evaluation": 70, "memory": 60, "device": 50, "slow": 40}
"""Topic -> weight, as interviewers report them."""

BY_SYMPTOM = {
    "non_finite": "NaN and loss",
    "diverges": "NaN and loss",
    "crash": "device",
    "stuck": "not learning",
    "plateau": "not learning",
    "degraded": "not learning",
    "too_good": "leakage and evaluation",
    "noisy_eval": "leakage and evaluation",
    "drift": "leakage and evaluation",
    "leak": "memory",
    "oom": "memory",
    "hang": "device",
    "slow": "slow",
}
"""Symptom class -> topic. Crashes and hangs go to "device", the topic of everything that stops the machine."""

HEALTHY = "nothing is wrong"
"""The topic of traps."""
HEALTHY_SHARE = 0.1
"""Share of cases in which nothing is wrong: a candidate who always finds something should notice."""


@dataclass(frozen=True)
class Case:
    """One drawn case. `topic` is for the debrief, not for the candidate."""

    seed: int
    topic: str
    fault: Fault
    scenario: Scenario

    @property
    def ticket(self) -> str:
        return self.scenario.ticket

    @property
    def tests(self) -> Choices:
        """The discriminating tests that are offered; none where nothing looks like it."""
        return choices(self.fault, self.ticket)


def programs_of(fault: Fault) -> list[str]:
    """The programs on which a fault may be drawn: those of its cells that are proved, and whose repairs can be graded."""
    waits = ledger.waiting()
    mine = [program for program in fits(fault) if f"{fault.id} on {program}" not in waits]
    return [program for program in mine if not impossible(fault, program)]


def topics(catalogue: Mapping[str, Fault]) -> dict[str, dict[str, list[str]]]:
    """Topic -> the faults that can be drawn under it, each with its programs; traps are under "nothing is wrong"."""
    found: dict[str, dict[str, list[str]]] = {}
    for fault in catalogue.values():
        if programs := programs_of(fault):
            topic = HEALTHY if fault.trap else BY_SYMPTOM[fault.symptom]
            found.setdefault(topic, {})[fault.id] = programs
    return found


@lru_cache(maxsize=8)
def _table(ids: tuple[str, ...]) -> dict[str, dict[str, list[str]]]:
    """`topics` of the catalogue that holds these: to work out what fits what takes longer than a draw."""
    return topics({name: faults.load(name) for name in ids})


def choose(seed: int, wish: "Wish | None" = None) -> tuple[str, Fault, str]:
    """Topic, fault and program of this seed, among those that are wished for. Raises UserError where there are none.

    Each is drawn by a hash of its name, so that a fault that is added takes a few seeds for itself and moves no other.
    """
    table = dict(_table(tuple(faults.catalogue())))
    if wish is not None:
        table = wish.narrowed(table)
    healthy = table.pop(HEALTHY, None)
    if not table:
        raise UserError("There is no fault to draw from. `bugzoo list faults` shows the catalogue.")
    topic = weighted(seed, {name: WEIGHTS[name] for name in table})
    if healthy and share(seed, "is it healthy") < HEALTHY_SHARE:
        topic, table[HEALTHY] = HEALTHY, healthy
    name = one_of(seed, table[topic])
    return topic, faults.load(name), one_of(seed, table[topic][name])


@dataclass(frozen=True)
class Wish:
    """What a case shall be: of a level, of a family, on a program. A case may be healthy all the same."""

    level: int | None = None
    family: str | None = None
    program: str | None = None

    def narrowed(self, table: Mapping[str, dict[str, list[str]]]) -> dict[str, dict[str, list[str]]]:
        """The topics with what is wished for. Raises UserError, with what there is, where nothing is."""
        ids = [name for topic, cells in table.items() if topic != HEALTHY for name in cells]
        families = sorted({_family(name) for name in ids})
        if self.family is not None and self.family not in families:
            raise unknown("family", self.family, families, "bugzoo list faults")
        if self.program is not None:
            programs.load(self.program)
        found = {}
        for topic, cells in table.items():
            mine = {name: self._programs(name, fitting) for name, fitting in cells.items() if self._fits(topic, name)}
            if mine := {name: fitting for name, fitting in mine.items() if fitting}:
                found[topic] = mine
        if not found.keys() - {HEALTHY}:
            raise UserError(f"No case is {self}. {self._instead(table)}")
        return found

    def _fits(self, topic: str, name: str) -> bool:
        if topic == HEALTHY:
            return True
        return self.family in (None, _family(name)) and self.level in (None, faults.load(name).level)

    def _programs(self, name: str, fitting: list[str]) -> list[str]:
        return [program for program in fitting if self.program in (None, program)]

    def _instead(self, table: Mapping[str, dict[str, list[str]]]) -> str:
        """What there is when one wish is left out, in words."""
        sick = {name: fitting for topic, cells in table.items() if topic != HEALTHY for name, fitting in cells.items()}
        said = []
        if self.level is not None:
            rest = [
                name for name in sick if replace(self, level=None)._fits("", name) and self._programs(name, sick[name])
            ]
            said.append(f"levels {_listed(sorted({str(faults.load(name).level) for name in rest}))}")
        if self.family is not None:
            rest = [
                name for name in sick if replace(self, family=None)._fits("", name) and self._programs(name, sick[name])
            ]
            said.append(f"families {_listed(sorted({_family(name) for name in rest}))}")
        if self.program is not None:
            on = {program for name in sick if self._fits("", name) for program in sick[name]}
            said.append(f"programs {_listed(sorted(on))}")
        return "With one wish less there are: " + "; or ".join(said) + "."

    def __str__(self) -> str:
        wishes = (("of level", self.level), ("of the family", self.family), ("on", self.program))
        return " ".join(f"{word} {value}" for word, value in wishes if value is not None)


def _family(name: str) -> str:
    return name.rpartition(":")[2].split("/")[0]


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "none"


def draw(seed: int, only: str | None = None, program: str | None = None, wish: Wish | None = None) -> Case:
    """The case of this seed. `only` (a fault's id) and `program` fix what else is drawn, among what is wished for.

    A case is a cell that `bugzoo verify` proves, with its repairs and pretences, under another seed: the fault as its file
    has it, no other settings. Raises UserError for any other, and for a seed that there is not.
    """
    seeds.check(seed)
    if only is None:
        topic, fault, drawn = choose(seed, wish)
    else:
        fault = faults.load(only)
        topic, drawn = (
            HEALTHY if fault.trap else BY_SYMPTOM[fault.symptom],
            [*programs_of(fault), *fits(fault)][0],
        )
    if why := impossible(fault, program or drawn):
        raise UserError(f"{fault.id} on {program or drawn} makes no interview: {why}.")
    return Case(seed, topic, fault, Scenario(program or drawn, (fault.id,), seed=seed % 1000))
