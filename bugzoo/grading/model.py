"""The records of grading: an exercise's declaration, a check and the result of one submission."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from bugzoo.faults.model import Fault
from bugzoo.grading import lines
from bugzoo.grading.groups import GROUPS
from bugzoo.grading.kinds import Repair
from bugzoo.plain import plain
from bugzoo.printable import printable
from bugzoo.scenario import Scenario

FOR_A_PERSON = "for a person"
STATES = ("not attempted", "wrong", "your code raised", "cannot be graded", FOR_A_PERSON, "passed")
"""Possible results. "cannot be graded" is due to the machine or the file and costs no attempt. A hand-in "for a person"
was set aside before it ran, passed and decides something by a counter of its own, or shows a check nothing where the
healthy program has something."""
UNCHANGED = "The program is unchanged."


@dataclass(frozen=True)
class Check:
    """One check. Raises ValueError for an unknown group."""

    name: str
    """Its id in JSON: an instrument's for one that fires."""
    status: str
    saw: str
    """What was done and what came out, in sentences."""
    expected: str = ""
    """What would pass, in a sentence."""
    number: float | None = None
    group: str = ""
    """Its group, an id in `groups.GROUPS`. Every check of a repair has one; those of a diagnosis have none."""

    def __post_init__(self) -> None:
        for name in ("saw", "expected"):  # they quote a submission's own words
            object.__setattr__(self, name, printable(getattr(self, name)))
        if self.group and self.group not in GROUPS:
            raise ValueError(f"{self.group!r} is not a group of checks; use one of {', '.join(GROUPS)}")

    @property
    def passed(self) -> bool:
        return self.status == "passed"

    def __str__(self) -> str:
        return lines.of_check(self)


def state_of(good: bool) -> str:
    """Return the status of a check that was made."""
    return "passed" if good else "wrong"


@dataclass
class Result:
    """The result of one submission. `share` is the part of the points that it earns, 0 to 1."""

    status: str
    share: float = 0.0
    checks: list[Check] = field(default_factory=list)
    message: str = ""
    seconds: float = 0.0
    points: float = 0.0
    max_points: float = 0.0
    draw: int | None = None
    """The number from which the compared steps were drawn; None if nothing ran."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, printable(value) if name == "message" else value)

    @property
    def passed(self) -> bool:
        return self.status == "passed"

    def to_json(self) -> dict[str, Any]:
        """Return plain values for any JSON reader; non-finite numbers become text."""
        keys = ("name", "group", "status", "saw", "expected")
        checks = [{key: getattr(check, key) for key in keys} | {"number": plain(check.number)} for check in self.checks]
        return {
            "status": self.status,
            "share": round(self.share, 4),
            "points": round(self.points, 4),
            "max_points": self.max_points,
            "message": self.message,
            "seconds": round(self.seconds, 2),
            "draw": self.draw,
            "checks": checks,
        }

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> "Result":
        values = {name: found[name] for name in ("status", "share", "message", "seconds", "points", "max_points")}
        values["draw"] = found.get("draw")
        return cls(checks=[Check(**check) for check in found["checks"]], **values)

    def __str__(self) -> str:
        return lines.of_result(self)


@dataclass(frozen=True)
class Ticket:
    """Another story of an exercise and where its cases come from. What is left out is as in the exercise.

    Figures in the story are fields, such as `{run.last:.2f}` and `{healthy.accuracy:.0f}` (`another.Figures`). They are
    filled in from the case's own run, so every sentence has to hold on every seed. `bugzoo check` proves the lowest and the
    highest choice.
    """

    story: str
    program: str = ""
    fault: str = ""
    """A spec that may leave parameters open: `freezing/frozen_layers?keep=2..4`."""
    about: str = ""
    kind: Repair | None = None
    """The same kind of exercise, with another declaration."""


@dataclass(frozen=True)
class Exercise:
    """A story, a scenario and a few settings; one file each, named as the notebook.

    The fault's own file holds everything about the fault: repairs, pretences, hints, evidence, tests. `kind` says what is
    asked (`kinds`).
    """

    title: str
    story: str
    """The symptom as told to the learner, in Markdown, without the cause."""
    program: str
    fault: str
    """The fault's spec, read only by the grader and the builder."""
    kind: Repair = field(default_factory=Repair)
    seed: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    points: tuple[float, float] = (5.0, 5.0)
    """Points for the repair (or the edit) and for the diagnosis."""
    seeds: tuple[int, ...] = (0, 1, 2)
    seconds: float = 60.0
    about: str = ""
    """The docstring of the program as handed out, if its own docstring says too much."""
    tickets: tuple[Ticket, ...] = ()
    """Three more tickets, for "another one like this"."""
    on_cpu: str = ""
    """One sentence: why its program runs on the CPU on every machine, as where a GPU would show the fault at another step.
    Else the notebook's line says where it runs.
    """
    lesson: int = 0
    """The number of its lesson, where its own number does not say it."""
    name: str = ""
    """The stem of the declaring file, set by the loader. A drawn case has its number after a hyphen."""

    @cached_property
    def scenario(self) -> Scenario:
        """The program with its fault, under the exercise's settings and seed."""
        return self.kind.scenario(self)

    @property
    def faults(self) -> tuple[str, ...]:
        """The spec of each fault: one, or two of a *two* exercise."""
        return self.kind.faults(self)

    @property
    def about_fault(self) -> tuple[Fault, dict[str, float | int]]:
        """The fault and its parameters; of a *two* exercise the first one."""
        return self.scenario.specs[0]

    @property
    def about_faults(self) -> tuple[tuple[Fault, dict[str, float | int]], ...]:
        """Each fault with its parameters."""
        return (self.about_fault, *self.scenario.specs[1:])

    @property
    def forms(self) -> tuple[str, ...]:
        """The ticket of each diagnosis form: the exercise's own, or one for each of two findings."""
        return self.kind.forms(self.scenario.ticket)

    @property
    def trap(self) -> bool:
        """Nothing is wrong."""
        return self.about_fault[0].trap

    @property
    def handed_out(self) -> str:
        """The program's text that the learner gets."""
        return self.kind.handed_out(self)

    @property
    def hints(self) -> tuple[str, ...]:
        """Three hints, from a nudge to the line. Those of two faults take turns."""
        return self.kind.hints_for(self)
