"""A line-up: five runs, of which one is ill or none, to be told by curves and readings alone."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any

from bugzoo import choices
from bugzoo.diagnostics import causes
from bugzoo.faults.model import Fault
from bugzoo.grading.diagnosis import telling
from bugzoo.scenario import Scenario

LETTERS = "ABCDE"
NONE = "none"
"""What is said where no run is ill."""
POINTS = (5.0, 5.0)
"""Of finding the run, and of saying what is wrong with it and what shows it."""


@dataclass(frozen=True)
class Candidate:
    """One of the five. `fault` is empty, or a trap's, where it is well; `note` is told at the end."""

    program: str
    fault: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    note: str = ""

    @cached_property
    def scenario(self) -> Scenario:
        return Scenario(self.program, (self.fault,) if self.fault else (), self.settings, self.seed)

    @property
    def about_fault(self) -> tuple[Fault, Mapping[str, float | int]] | None:
        """The fault and its parameters; None where nothing was put in."""
        return next(iter(self.scenario.specs), None)

    @property
    def ill(self) -> bool:
        return bool(self.fault) and not self.scenario.specs[0][0].trap


@dataclass(frozen=True)
class Lineup:
    """A story and five candidates, in any order: which letter they get, the ticket settles."""

    title: str
    story: str
    """What the learner is told, in Markdown, without a word on the cause."""
    candidates: tuple[Candidate, ...]
    name: str = ""
    """The stem of the declaring file, set by the loader."""

    def __post_init__(self) -> None:
        if len(self.candidates) != len(LETTERS) or sum(one.ill for one in self.candidates) > 1:
            raise ValueError(f"a line-up has {len(LETTERS)} candidates, of which one is ill or none: {self.title}")

    @property
    def ticket(self) -> str:
        """What the record calls it; it says nothing of the runs."""
        return f"L-{sha256(f'{self.name} line-up'.encode()).hexdigest()[:8].upper()}"

    @cached_property
    def runs(self) -> dict[str, Candidate]:
        """Letter -> candidate."""
        order = list(self.candidates)
        random.Random(self.ticket).shuffle(order)
        return dict(zip(LETTERS, order, strict=True))

    @property
    def ill(self) -> str:
        """The letter of the run that is ill, or NONE."""
        return next((letter for letter, one in self.runs.items() if one.ill), NONE)

    @property
    def causes(self) -> tuple[str, ...]:
        """Every word that is true of it."""
        if self.ill == NONE:
            return (causes.NOTHING,)
        fault, params = self.runs[self.ill].about_fault or (None, {})
        return causes.right(fault.id, params) if fault else (causes.NOTHING,)

    @property
    def offered(self) -> tuple[str, ...]:
        """The causes that its form offers."""
        for one in self.candidates:
            if one.ill and one.about_fault:
                return choices.offered(*one.about_fault, self.ticket)
        like = next((one.about_fault for one in self.candidates if one.about_fault), None)
        if like is not None:
            return choices.offered(*like, self.ticket)
        words = [word for word in causes.words() if word != causes.OTHER and word != causes.NOTHING]
        drawn = random.Random(self.ticket).sample(words, choices.OFFERED - 1)
        return (*sorted([*drawn, causes.NOTHING]), causes.OTHER)

    @property
    def evidence(self) -> tuple[str, ...]:
        """The instruments that show it; none where nothing is ill."""
        about = next((one.about_fault for one in self.candidates if one.ill), None)
        return telling(about[0]) if about else ()
