"""The results of `bugzoo verify` as plain data: cells of fault x program, healthy programs, the whole report."""

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class Cell:
    """One fault on one program over matched seeds. Lists are by seed."""

    fault: str
    program: str
    applied: bool = False
    undone: bool = False
    """Undoing the edits restored the program byte for byte."""
    outcomes: list[str] = field(default_factory=list)
    numbers: dict[str, dict[str, list[Any]]] = field(default_factory=dict)
    """Name in evidence or effect -> {"broken": its number, "healthy": the twin's}."""
    claims: dict[str, list[bool]] = field(default_factory=dict)
    """Evidence -> whether it held on the broken run."""
    false_claims: dict[str, list[bool]] = field(default_factory=dict)
    """Evidence -> whether it held on the healthy twin. All must be false."""
    effect: str = ""
    agreeing: int = 0
    """Seeds on which the effect shows."""
    p: float = 1.0
    fired: list[str] = field(default_factory=list)
    """Instruments that fire on the broken run of the first seed."""
    problems: list[str] = field(default_factory=list)
    """Problems as sentences; an empty list means proved."""
    skipped: str = ""
    graded: int = 0
    """Number of repairs, pretences and attacks with a known result; unexpected ones are in `problems`."""
    not_graded: str = ""
    """Why its repairs and pretences cannot be graded."""
    in_ledger: bool = False
    """The ledger holds it, and nothing that it depends on has changed."""

    @property
    def proved(self) -> bool:
        return not self.problems and not self.skipped


@dataclass
class Healthy:
    """A healthy program, the negative control: all instruments on all seeds."""

    program: str
    outcomes: list[str] = field(default_factory=list)
    fired: dict[str, list[str]] = field(default_factory=dict)
    """Instrument -> its message, for each false alarm."""
    metrics: list[dict[str, float]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    in_ledger: bool = False


@dataclass
class Apart:
    """A fault and a look-alike: does the discriminating test work on a program that both fit?"""

    fault: str
    other: str
    program: str
    problems: list[str] = field(default_factory=list)
    in_ledger: bool = False


@dataclass
class VerifyReport:
    """The results of one verification. `runs`: all runs needed; `cached`: those known already."""

    cells: list[Cell]
    controls: list[Healthy]
    environment: dict[str, Any]
    seconds: float
    runs: int
    cached: int
    look_alikes: list[Apart] = field(default_factory=list)
    graded: int = 0
    """Number of repairs and pretences graded now; the other results were known."""

    @property
    def ok(self) -> bool:
        return not any(row.problems for row in [*self.cells, *self.controls, *self.look_alikes])

    @property
    def believed(self) -> int:
        """Number of cells, healthy programs and look-alikes taken from the ledger."""
        return sum(row.in_ledger for row in [*self.cells, *self.controls, *self.look_alikes])

    def to_json(self) -> dict[str, Any]:
        return {"ok": self.ok, **asdict(self)}
