"""`Account`: what a supervisor says of a job when it is over. It crosses from its process as one JSON line."""

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Account:
    """Seen from outside the script's process, so that nothing the script does can change it."""

    exit_code: int
    """Exit status, or the negative number of the signal that killed it."""
    seconds: float
    peak_mib: float
    stdout: str
    reason: str = ""
    """Why the supervisor ended the run: an outcome, or "processes"; empty where it ended by itself."""
    stacks: dict[str, list[str]] = field(default_factory=dict)
    """Rank, as text -> where it stood, innermost call first."""
    steps: dict[str, list[list[float]]] = field(default_factory=dict)
    """Rank, as text -> [step, loss, gradient norm] of each step that was reported."""
    trouble: str = ""
    """Why the machine could not run the script at all."""
    unread: dict[str, str] = field(default_factory=dict)
    """Rank, as text -> why what it left is not read."""
    full: bool = False
    """Was the room for its results full?"""

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> "Account":
        """What `to_json` gave. Raises TypeError for a field that is unknown or missing."""
        return cls(**found)
