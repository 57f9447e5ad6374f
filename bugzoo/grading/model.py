"""What grading works with: an exercise's declaration, a check's answer and the result of one submission."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from bugzoo.faults.model import Fault
from bugzoo.plain import plain
from bugzoo.scenario import Scenario

STATES = ("not attempted", "wrong", "your code raised", "cannot be graded", "passed")
"""What a check can answer. "cannot be graded" is the machine's or the file's fault and costs no attempt."""


UNCHANGED = "The program is as it was handed out."
QUIET = "no alarm from this instrument"
"""What an instrument that fires should have given."""


@dataclass(frozen=True)
class Check:
    """One thing that was looked at: what was seen, what was expected, and the number behind it."""

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
    """The outcome of one submission. `share` is the part of the points that it earns, 0 to 1."""

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
        """Plain values, any JSON reader takes them: numbers that are not finite become text."""
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
        """What the list does not say: which checks stand there, and which do not."""
        if self.status == "your code raised":
            return ["Nothing else was judged: the run did not come to its end."]
        if any(check.expected == QUIET for check in self.checks):
            return [
                "The instruments that are not listed here raised no alarm, or had nothing to measure in this program."
            ]
        return []


@dataclass(frozen=True)
class Exercise:
    """A story, a scenario and a small policy; one file each, named as the notebook is.

    Everything that is asked about the fault stands in the fault's own file: repairs, pretences, hints, evidence, tests.
    """

    title: str
    story: str
    """What the learner is told: the symptom, in Markdown, without a word on the cause."""
    program: str
    fault: str
    """The fault's spec. It is read by the grader and the builder only."""
    seed: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    points: tuple[float, float] = (7.0, 3.0)
    """For the repair and for the diagnosis."""
    seeds: tuple[int, ...] = (0, 1, 2)
    seconds: float = 60.0
    about: str = ""
    """The docstring of the program as it is handed out, where its own one says too much."""
    name: str = ""
    """The stem of the declaring file, set by the loader."""

    @cached_property
    def scenario(self) -> Scenario:
        """Program and fault, under the exercise's settings and seed."""
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
        """From a nudge to the place."""
        return self.about_fault[0].hints
