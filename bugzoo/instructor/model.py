"""An assignment: a program with one or more faults in it, from which notebooks, key and proof are made."""

import re
from dataclasses import dataclass, replace
from functools import cached_property

from bugzoo import diagnostics, programs
from bugzoo.errors import UserError
from bugzoo.faults.evidence import parse
from bugzoo.faults.model import Fault
from bugzoo.grading.evaluation import task
from bugzoo.grading.grade import tidy
from bugzoo.grading.half_repairs import without
from bugzoo.scenario import Scenario, parse_spec

MOST = 3
"""Faults in one assignment: the notebook has a form for each, and always as many forms, so that it does not tell."""
GRADING_SEEDS = (0, 1, 2)
STORY = (
    "You take over a program from somebody who has left. It runs to its end, and nobody is content with it. Perhaps one "
    "thing is wrong, perhaps more; whoever repairs one of them sees the others better."
)


@dataclass(frozen=True)
class Assignment:
    """What an instructor asks for. `faults` are spec texts with parameters; `points` are for repair and diagnosis.

    Construction checks that everything fits: names, parameters, two faults at one place, and whether a class's repairs
    could be graded by what they do. Whether one fault hides the other is measured by `proof.prove`.
    """

    program: str
    faults: tuple[str, ...]
    seed: int = 0
    title: str = "Something is wrong with this training"
    story: str = STORY
    points: tuple[float, float] = (7.0, 3.0)
    size: str = "tiny"

    def __post_init__(self) -> None:
        object.__setattr__(self, "faults", tuple(self.faults))
        object.__setattr__(self, "points", (float(self.points[0]), float(self.points[1])))
        if not 1 <= len(self.faults) <= MOST:
            raise UserError(
                f"{len(self.faults)} faults were given; an assignment holds from 1 to {MOST} (--fault SPEC)."
            )
        if not 0 <= self.seed < 2**31:
            raise UserError(f"seed {self.seed} is not allowed; it is a whole number from 0 to {2**31 - 1}.")
        if not all(0 < value <= 1000 for value in self.points):
            raise UserError(f"points {self.points} are not allowed; each is a number above 0, at most 1000.")
        if not self.name:
            raise UserError(f"The title {self.title!r} holds no letter and no digit; files are named after it.")
        programs.load(self.program)  # an unknown name is said before what does not fit it
        ids = [parse_spec(spec)[0] for spec in self.faults]
        if twice := [name for name in ids if ids.count(name) > 1]:
            raise UserError(f"{twice[0]} was given twice; the faults of an assignment are different ones.")
        for fault, _ in self.scenario.specs:
            if why := ungradable(fault):
                raise UserError(f"{fault.id} cannot be assigned: {why}. `bugzoo list faults` shows the others.")
        task(self.program)  # raises where the grader has no data of its own

    @property
    def name(self) -> str:
        """The title as nbgrader and file systems take it: `week_3_two_at_once`."""
        return re.sub(r"[^a-z0-9]+", "_", self.title.lower()).strip("_")[:60].strip("_")

    @cached_property
    def scenario(self) -> Scenario:
        """Program and all faults, under the assignment's own seed."""
        return Scenario(self.program, self.faults, seed=self.seed, size=self.size)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The faults' ids, in the order given."""
        return tuple(fault.id for fault, _ in self.scenario.specs)

    @property
    def source(self) -> str:
        """The program as it is handed out."""
        return tidy(self.scenario.source)

    @property
    def solution(self) -> str:
        return tidy(self.scenario.healthy().source)

    def half(self, fault_id: str, seed: int | None = None) -> Scenario:
        """The scenario in which one fault is repaired and the others are still there."""
        case = self.scenario if seed is None else self.at(seed)
        return without(case, (fault_id,))

    def at(self, seed: int) -> Scenario:
        """The same under another seed."""
        return Scenario(self.program, self.faults, seed=seed, size=self.size)


def ungradable(fault: Fault) -> str:
    """Why repairs of this fault cannot be graded for a class; empty when they can."""
    if fault.trap:
        return "it is a trap: nothing is wrong, so that there is nothing to repair (an exercise with one is 07_second_opinion)"
    if replace(fault.needs, ranks=1):  # the ranks are the program's
        return f"it shows only under conditions that the grader's sandbox does not make ({fault.needs})"
    if not fault.evidence:
        return "it states no evidence"
    for text in fault.evidence:
        name = parse(text).instrument
        if name == "outcome":
            return f"a program that ends with `{text}` has no result of which a part could be judged"
        if name not in diagnostics.names():
            return f"its evidence `{text}` is not the number of an instrument"
    return ""
