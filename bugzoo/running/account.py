"""`Account`: a supervisor's report on a finished job. It is sent between processes as one JSON line."""

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Account:
    """A report from outside the script's process, so that the script cannot change it."""

    exit_code: int
    """Exit status, or the negative number of the signal that killed it."""
    seconds: float
    peak_mib: float
    stdout: str
    reason: str = ""
    """Why the supervisor stopped the run: an outcome, or "processes". Empty if it ended by itself."""
    stacks: dict[str, list[str]] = field(default_factory=dict)
    """Rank, as text -> its stack, innermost call first."""
    steps: dict[str, list[list[float]]] = field(default_factory=dict)
    """Rank, as text -> [step, loss, gradient norm] of each step that was reported."""
    trouble: str = ""
    """Why the machine could not run the script at all."""
    unread: dict[str, str] = field(default_factory=dict)
    """Rank, as text -> why its results are not read."""
    full: bool = False
    """Whether the folder for its results was full."""
    processor_s: float = 0.0
    """Processor seconds that all its threads used while the script ran."""
    supervisor_mib: float = 0.0
    """What the supervisor needed itself, at most at once, on top of the warm process."""

    def to_json(self) -> dict[str, Any]:
        """Return the account as plain data."""
        return asdict(self)

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> "Account":
        """Read what `to_json` returned. Raises TypeError for an unknown or missing field."""
        return cls(**found)
