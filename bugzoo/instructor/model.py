"""An assignment: a program with one or more faults, from which notebooks, key and proof are built."""

import re
from dataclasses import dataclass, replace
from functools import cached_property

from bugzoo import diagnostics, programs
from bugzoo.errors import UserError
from bugzoo.faults.evidence import parse
from bugzoo.faults.model import Fault
from bugzoo.grading import salt
from bugzoo.grading.evaluation import task
from bugzoo.grading.partial_credit import without
from bugzoo.grading.texts import tidy
from bugzoo.scenario import Scenario, parse_spec

MOST = 3
"""Most faults in one assignment. The notebook always has this many forms, so the number gives nothing away."""
GRADING_SEEDS = (0, 1, 2)
STORY = (
    "You take over a program from a colleague who has left. It finishes, but its results are bad. It may have one fault "
    "or several. Once you repair one, the others are easier to see."
)


@dataclass(frozen=True)
class Assignment:
    """An instructor's request. `faults` are specs with parameters; `points` are for repair and diagnosis.

    Construction checks names, parameters, two faults at one place, and whether repairs can be graded by what they do.
    `proof.prove` measures whether one fault masks another.
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
        if not 1 <= (count := len(self.faults)) <= MOST:
            raise UserError(f"{count} faults were given. An assignment has 1 to {MOST} faults (--fault SPEC).")
        if not 0 <= self.seed < 2**31:
            raise UserError(f"seed {self.seed} is not allowed. Give a whole number from 0 to {2**31 - 1}.")
        if not all(0 < value <= 1000 for value in self.points):
            raise UserError(f"points {self.points} are not allowed. Give numbers above 0, up to 1000.")
        if not self.name:
            problem = f"The title {self.title!r} has no letter and no digit."
            raise UserError(f"{problem} Files are named after it, so add one.")
        programs.load(self.program)  # report an unknown program before anything that does not fit it
        ids = [parse_spec(spec)[0] for spec in self.faults]
        if twice := [name for name in ids if ids.count(name) > 1]:
            raise UserError(f"{twice[0]} was given twice. Choose different faults.")
        for fault, _ in self.scenario.specs:
            if why := ungradable(fault):
                raise UserError(f"{fault.id} cannot be assigned: {why}. `bugzoo list faults` shows the others.")
        task(self.program)  # raises where the grader has no data of its own

    @property
    def name(self) -> str:
        """The title as a name for nbgrader and file systems: `week_3_two_at_once`."""
        return re.sub(r"[^a-z0-9]+", "_", self.title.lower()).strip("_")[:60].strip("_")

    @cached_property
    def scenario(self) -> Scenario:
        """The program with all faults, under the assignment's own seed."""
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

    @cached_property
    def salt(self) -> str:
        """The salt of the grader's draws, which stays with the answer key."""
        return salt.derived(self.name, self.source)

    def half(self, fault_id: str, seed: int | None = None) -> Scenario:
        """Return the scenario with one fault repaired and the others still there."""
        case = self.scenario if seed is None else self.at(seed)
        return without(case, (fault_id,))

    def at(self, seed: int) -> Scenario:
        """Return the same scenario under another seed."""
        return Scenario(self.program, self.faults, seed=seed, size=self.size)


def ungradable(fault: Fault) -> str:
    """Return why repairs of this fault cannot be graded for a class; empty if they can."""
    if fault.trap:
        return "it is a trap: nothing is wrong, so there is nothing to repair (exercise 17_second_opinion has one)"
    if replace(fault.needs, ranks=1):  # the program sets the ranks
        return f"it shows only under conditions that the grader's sandbox cannot provide ({fault.needs})"
    if not fault.evidence:
        return "it declares no evidence"
    for text in fault.evidence:
        name = parse(text).instrument
        if name == "outcome":
            return f"a program that ends with `{text}` has no result, so a partial repair cannot be graded"
        if name not in diagnostics.names():
            return f"its evidence `{text}` is not an instrument's number"
    return ""
