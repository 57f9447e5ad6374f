"""The matrix fault x program x diagnostic: what `bugzoo verify` found, as plain data."""

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class Cell:
    """One fault on one program over matched seeds."""

    fault: str
    program: str
    spec: str
    applied: bool = False
    undone: bool = False
    """Taking the swap back restored the program byte for byte."""
    claims: dict[str, list[bool]] = field(default_factory=dict)
    """Evidence text -> whether it held on the broken run, per seed."""
    false_claims: dict[str, list[bool]] = field(default_factory=dict)
    """Evidence text -> whether it held on the healthy twin, per seed. All must be false."""
    effect: str = ""
    broken: list[float | None] = field(default_factory=list)
    healthy: list[float | None] = field(default_factory=list)
    """The effect's number per seed."""
    agreeing: int = 0
    p: float = 1.0
    outcomes: list[str] = field(default_factory=list)
    fired: dict[str, float] = field(default_factory=dict)
    """Diagnostic -> share of seeds on which it fired on the broken run."""
    accuracy: dict[str, list[float]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    """Sentences; an empty list means proved."""
    skipped: str = ""

    @property
    def proved(self) -> bool:
        return not self.problems and not self.skipped


@dataclass
class Healthy:
    """A healthy program (under one set of settings): the negative control."""

    program: str
    outcomes: list[str]
    fired: dict[str, list[str]]
    """Diagnostic -> what it said, where it fired although nothing is wrong."""
    metrics: list[dict[str, float]]
    problems: list[str] = field(default_factory=list)


@dataclass
class Report:
    """Everything that one verification found."""

    cells: list[Cell]
    controls: list[Healthy]
    environment: dict[str, Any]
    seconds: float
    runs: int
    cached: int

    @property
    def ok(self) -> bool:
        return not any(cell.problems for cell in self.cells) and not any(c.problems for c in self.controls)

    def to_json(self) -> dict[str, Any]:
        return {"ok": self.ok, **asdict(self)}
