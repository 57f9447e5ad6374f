"""The records of grading: an exercise's declaration, a check and the result of one submission."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from bugzoo.faults.model import Fault, Written
from bugzoo.grading import lines
from bugzoo.grading.groups import GROUPS
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
        checks = [
            {
                "name": c.name,
                "group": c.group,
                "status": c.status,
                "saw": c.saw,
                "expected": c.expected,
                "number": plain(c.number),
            }
            for c in self.checks
        ]
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
class Break:
    """What the edit of a *break* exercise has to produce, and what it may not touch.

    Claims are texts as in a fault's evidence. They also know two groups. `grader`: metric and loss of the trained weights
    in the grader's own copy of the evaluation, so the model must compute what the healthy one does. `both_modes`: what
    later tokens do in train mode and in eval mode (`both_modes.py`).
    """

    must: tuple[str, ...]
    """Claims that hold on every seed, such as `overfit_one_batch.ratio < 0.2`."""
    on_average: tuple[str, ...]
    """Claims about the means over the seeds."""
    alarms: tuple[str, ...]
    """Instruments that belong to the symptom. Any other that fires refuses the edit."""
    stays: tuple[str, ...]
    """Parts of the program that stay as they are: keys of `unchanged_parts.PARTS`."""
    hints: tuple[str, str, str]
    """From a nudge to the place. The fault's own hints help to find a fault, not to write one."""
    moral: str
    """What the debrief says after the edit passes."""
    counts: Mapping[str, Written]
    """Name -> another edit of the healthy program that does it."""
    lazy: Mapping[str, Written]
    """Name -> an edit that does not: the proof adds those that fit any program (`kinds/break_/lazy.py`)."""
    views: tuple[str, ...] = ("loss_curve", "one_batch", "evaluation")
    """The views that show the symptom, which the notebook opens; every other one is a call away."""

    @property
    def groups(self) -> frozenset[str]:
        """What its claims are about: instruments, `grader` and `both_modes`."""
        return frozenset(text.split(".")[0] for text in (*self.must, *self.on_average))


@dataclass(frozen=True)
class Healthy:
    """One of the four healthy runs of a *five*: how it differs from the first run, besides the missing fault."""

    seed: int = 0
    """Added to the exercise's seed."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    trap: str = ""
    """The spec of a trap: something odd and harmless."""


@dataclass(frozen=True)
class Five:
    """The runs of a *five*: that of the exercise's fault, and four healthy ones. With a trap as the fault none is broken.

    They are recorded once, by `bugzoo exercises record`. A learner gets curves and readings, and no code.
    """

    healthy: tuple[Healthy, Healthy, Healthy, Healthy]
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of all runs."""


@dataclass(frozen=True)
class Ticket:
    """Another story of an exercise and where its cases come from. What is left out is as in the exercise.

    Figures in the story are fields, such as `{run.last:.2f}` and `{healthy.accuracy:.0f}` (`another.Figures`). They are
    filled in from the case's own run.
    """

    story: str
    program: str = ""
    fault: str = ""
    """A spec that may leave parameters open: `freezing/frozen_layers?keep=2..4`."""
    about: str = ""
    breaks: Break | None = None
    decoy: str = ""
    five: Five | None = None
    second: str = ""


@dataclass(frozen=True)
class Exercise:
    """A story, a scenario and a few settings; one file each, named as the notebook.

    The fault's own file holds everything about the fault: repairs, pretences, hints, evidence, tests. There are six
    kinds. *repair*: find and repair the fault. *nothing*: the fault is a trap, and nothing is wrong. *break*: the learner
    gets the healthy program and writes an edit that produces a symptom; the fault is one edit that does. *decoy*: a
    repair beside something odd and harmless, which has to stay. *five*: five recorded runs without code; which is broken?
    *two*: a repair of two faults, with a diagnosis form each.
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
    """Points for the repair (or the edit) and for the diagnosis."""
    seeds: tuple[int, ...] = (0, 1, 2)
    seconds: float = 60.0
    about: str = ""
    """The docstring of the program as handed out, if its own docstring says too much."""
    breaks: Break | None = None
    """What an edit must produce; this makes it a *break* exercise, without a diagnosis."""
    tickets: tuple[Ticket, ...] = ()
    """Three more tickets, for "another one like this"."""
    on_cpu: str = ""
    """One sentence: why its program runs on the CPU on every machine. Else the notebook's line says where it runs."""
    decoy: str = ""
    """A trap's spec: something odd and harmless in the program, before and after a repair. Touching it costs a point."""
    five: Five | None = None
    """The recorded runs; this makes it a *five*, without a program to read or to repair."""
    second: str = ""
    """The spec of a second fault, visible beside the first; this makes it a *two* exercise."""
    name: str = ""
    """The stem of the declaring file, set by the loader. A drawn case has its number after a hyphen."""

    @cached_property
    def scenario(self) -> Scenario:
        """The program with its fault, under the exercise's settings and seed."""
        settings = {**self.settings, **(self.five.settings if self.five else {})}
        return Scenario(self.program, self.faults, settings, self.seed, decoy=self.decoy)

    @property
    def faults(self) -> tuple[str, ...]:
        """The spec of each fault: one, or two of a *two* exercise."""
        return (self.fault, self.second) if self.second else (self.fault,)

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
        ticket = self.scenario.ticket
        return tuple(f"{ticket}/{number}" for number in (1, 2)) if self.second else (ticket,)

    @property
    def trap(self) -> bool:
        """Nothing is wrong."""
        return self.about_fault[0].trap

    @property
    def kind(self) -> str:
        """Return "repair", "nothing", "break", "decoy", "five" or "two"."""
        if self.five or self.second:
            return "five" if self.five else "two"
        return "break" if self.breaks else "nothing" if self.trap else "decoy" if self.decoy else "repair"

    @property
    def hints(self) -> tuple[str, ...]:
        """Three hints, from a nudge to the line. Those of two faults take turns."""
        if self.breaks:
            return self.breaks.hints
        return tuple(
            hint for step in zip(*(fault.hints for fault, _ in self.about_faults), strict=True) for hint in step
        )
