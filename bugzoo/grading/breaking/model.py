"""The inverse of a repair: a healthy program, and readings that its run must give once somebody has broken it."""

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from bugzoo.faults.evidence import Claim, parse
from bugzoo.faults.model import Fault
from bugzoo.scenario import Scenario


@dataclass(frozen=True)
class Breaking:
    """A story, a healthy program, and one of the faults that fit it: what its evidence says is asked for, and no more."""

    title: str
    story: str
    """What the learner is told, in Markdown: what the run should look like, and not a word on the edit."""
    program: str
    fault: str
    """Whose evidence is asked for. It is read by the grader and the builder only."""
    also: tuple[str, ...] = ()
    """Instruments that fire on our own broken run as well, and may on theirs."""
    named: tuple[str, ...] = ()
    """Other causes that an instrument that is asked for names on our own run as well."""
    ways: tuple[str, ...] = ()
    """Pretences of the fault that show the same: other right answers."""
    others: tuple[str, ...] = ()
    """Specs of other faults, none of which is an answer."""
    seed: int = 0
    seeds: tuple[int, ...] = (0, 1)
    seconds: float = 60.0
    points: float = 10.0
    name: str = ""
    """The stem of the declaring file, set by the loader."""

    def __post_init__(self) -> None:
        fault = Scenario(self.program, (self.fault,)).specs[0][0]
        if fault.trap or any(parse(text).left == "outcome" for text in fault.evidence):
            raise ValueError(f"{self.title}: what {self.fault} shows cannot be asked for by an instrument's number")

    @property
    def ticket(self) -> str:
        """What the record calls it; it says nothing of the fault."""
        return f"M-{sha256(f'{self.name} breaking'.encode()).hexdigest()[:8].upper()}"

    @cached_property
    def broken(self) -> Scenario:
        """The program with our own edit."""
        return Scenario(self.program, (self.fault,), seed=self.seed)

    @property
    def about(self) -> Fault:
        return self.broken.specs[0][0]

    @property
    def asked(self) -> tuple[Claim, ...]:
        """The numbers that the run must show."""
        return tuple(parse(text) for text in self.about.evidence)
