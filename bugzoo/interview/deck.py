"""Drawing a case: weighted by how often interviewers ask for its topic, always the same for one seed."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from bugzoo import faults
from bugzoo.choices import Choices, choices
from bugzoo.errors import UserError
from bugzoo.faults.model import Fault
from bugzoo.proving import ledger
from bugzoo.proving.tried import impossible
from bugzoo.scenario import Scenario, fits

WEIGHTS = {"NaN and loss": 90, "not learning": 80, "leakage and evaluation": 70, "memory": 60, "device": 50, "slow": 40}
"""Topic -> weight, as interviewers report it."""

SYMPTOMS = {
    "NaN and loss": ("non_finite", "diverges"),
    "not learning": ("stuck", "plateau", "degraded"),
    "leakage and evaluation": ("too_good", "noisy_eval", "drift"),
    "memory": ("leak", "oom"),
    "device": ("crash", "hang"),
    "slow": ("slow",),
}
"""Topic -> symptom classes. Crashes and hangs belong to "device", the topic of everything that stops the run."""
BY_SYMPTOM = {symptom: topic for topic, symptoms in SYMPTOMS.items() for symptom in symptoms}

NOTHING = "nothing is wrong"
"""Topic of the traps, and the diagnosis that a candidate gives of them."""

HEALTHY_SHARE = 0.1
"""Share of cases in which nothing is wrong, so that always naming a fault does not pay."""


@dataclass(frozen=True)
class Case:
    """One drawn case. `topic` is for the debrief; the candidate does not see it before."""

    seed: int
    topic: str
    fault: Fault
    scenario: Scenario

    @property
    def ticket(self) -> str:
        return self.scenario.ticket

    @property
    def tests(self) -> Choices:
        """The discriminating tests that are offered; none if the case has no look-alike."""
        return choices(self.fault, self.ticket)


def programs_of(fault: Fault) -> list[str]:
    """Return the programs on which a fault may be drawn: its cell is proved, and its repairs can be graded."""
    waits = ledger.waiting()
    programs = [program for program in fits(fault) if f"{fault.id} on {program}" not in waits]
    return [program for program in programs if not impossible(fault, program)]


def topic_of(fault: Fault) -> str:
    """Return the topic of a fault; of a trap, that nothing is wrong."""
    return NOTHING if fault.trap else BY_SYMPTOM[fault.symptom]


def topics(catalogue: Mapping[str, Fault]) -> dict[str, dict[str, list[str]]]:
    """Return topic -> its faults, each with its programs; traps are under "nothing is wrong"."""
    by_topic: dict[str, dict[str, list[str]]] = {}
    for fault in catalogue.values():
        if programs := programs_of(fault):
            by_topic.setdefault(topic_of(fault), {})[fault.id] = programs
    return by_topic


@lru_cache(maxsize=8)
def _table(ids: tuple[str, ...]) -> dict[str, dict[str, list[str]]]:
    """Return `topics` of the catalogue with these ids, cached, as it takes longer than a draw."""
    return topics({name: faults.load(name) for name in ids})


def choose(seed: int) -> tuple[str, Fault, str]:
    """Return topic, fault and program for this seed."""
    generator = random.Random(seed)
    table = dict(_table(tuple(faults.catalogue())))
    healthy = table.pop(NOTHING, None)
    names = sorted(table)
    if not names:
        raise UserError("There is no fault to draw from. `bugzoo list faults` shows the catalogue.")
    topic = generator.choices(names, [WEIGHTS[name] for name in names])[0]
    if healthy and generator.random() < HEALTHY_SHARE:
        topic, table[NOTHING] = NOTHING, healthy
    name = generator.choice(sorted(table[topic]))
    return topic, faults.load(name), generator.choice(table[topic][name])


def draw(seed: int, only: str | None = None, program: str | None = None) -> Case:
    """Return the case of this seed. `only` (a fault's id) and `program` fix what is otherwise drawn.

    A case is a cell that `bugzoo verify` proves, with its repairs and pretences, under another seed. The fault has its
    default settings. Raises UserError for any other.
    """
    if only is None:
        topic, fault, fallback = choose(seed)
    else:
        fault = faults.load(only)
        topic, fallback = topic_of(fault), [*programs_of(fault), *fits(fault)][0]
    if why := impossible(fault, program or fallback):
        raise UserError(f"{fault.id} on {program or fallback} cannot be an interview: {why}.")
    return Case(seed, topic, fault, Scenario(program or fallback, (fault.id,), seed=seed % 1000))
