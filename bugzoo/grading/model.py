"""The records of grading: an exercise's declaration, a check and the result of one submission."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from bugzoo.faults.model import Fault
from bugzoo.plain import plain
from bugzoo.scenario import Scenario

STATES = ("not attempted", "wrong", "your code raised", "cannot be graded", "passed")
"""Possible results of a check. "cannot be graded" is due to the machine or the file and costs no attempt."""


UNCHANGED = "The program is unchanged."
QUIET = "no alarm from this instrument"
"""The expected result of an instrument that fires."""


@dataclass(frozen=True)
class Check:
    """One check: what was seen, what was expected, and the number."""

    name: str
    status: str
    saw: str
    expected: str = ""
    number: float | None = None

    @property
    def passed(self) -> bool:
        return self.status == "passed"

    def __str__(self) -> str:
        if self.passed:
            return f"ok  {self.name}: {self.saw}"
        return f"NO  {self.name}: {self.saw}" + (f"; what passes: {self.expected}" if self.expected else "")


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

    @property
    def passed(self) -> bool:
        return self.status == "passed"

    def to_json(self) -> dict[str, Any]:
        """Return plain values for any JSON reader; non-finite numbers become text."""
        checks = [
            {"name": c.name, "status": c.status, "saw": c.saw, "expected": c.expected, "number": plain(c.number)}
            for c in self.checks
        ]
        return {
            "status": self.status,
            "share": round(self.share, 4),
            "points": round(self.points, 4),
            "max_points": self.max_points,
            "message": self.message,
            "seconds": round(self.seconds, 2),
            "checks": checks,
        }

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> "Result":
        values = {name: found[name] for name in ("status", "share", "message", "seconds", "points", "max_points")}
        return cls(checks=[Check(**check) for check in found["checks"]], **values)

    def __str__(self) -> str:
        first = f"{self.status}: {self.points:g} of {self.max_points:g} points" if self.max_points else self.status
        lines = [first + (f". {self.message}" if self.message else ""), *map(str, self.checks)]
        return "\n".join(lines + self._rest())

    def _rest(self) -> list[str]:
        """Return a note on which checks are not in the list."""
        if self.status == "your code raised":
            return ["Nothing else was graded, as the run did not finish."]
        if any(check.expected == QUIET for check in self.checks):
            return ["Instruments that are not listed did not fire, or had nothing to measure in this program."]
        return []


@dataclass(frozen=True)
class Exercise:
    """A story, a scenario and a few settings; one file each, named as the notebook.

    The fault's own file holds everything about the fault: repairs, pretences, hints, evidence, tests.
    """

    title: str
    story: str
    """The symptom as told to the learner, in Markdown, without the cause."""
    program: str
    fault: str
    """The fault's spec, read only by the grader and the builder."""
    seed: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    points: tuple[float, float] = (5.0, 5.0)
    """Points for the repair and for the diagnosis."""
    seeds: tuple[int, ...] = (0, 1, 2)
    seconds: float = 60.0
    about: str = ""
    """The docstring of the program as handed out, if its own docstring says too much."""
    name: str = ""
    """The stem of the declaring file, set by the loader."""

    @cached_property
    def scenario(self) -> Scenario:
        """The program with its fault, under the exercise's settings and seed."""
        return Scenario(self.program, (self.fault,), self.settings, self.seed)

    @property
    def about_fault(self) -> tuple[Fault, dict[str, float | int]]:
        """The fault and its parameters."""
        [found] = self.scenario.specs
        return found

    @property
    def trap(self) -> bool:
        """Nothing is wrong."""
        return self.about_fault[0].trap

    @property
    def hints(self) -> tuple[str, str, str]:
        """Three hints, from a nudge to the line."""
        return self.about_fault[0].hints
