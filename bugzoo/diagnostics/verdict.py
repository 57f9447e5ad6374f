"""What an instrument returns: numbers first, then a judgment of them."""

from dataclasses import dataclass, field

from bugzoo.errors import NotApplicable

__all__ = ["NotApplicable", "Suspect", "Verdict"]


@dataclass(frozen=True)
class Suspect:
    """A possible cause: a catalogue id (text), a score from 0 to 1 and the measured reason."""

    cause: str
    score: float
    reason: str
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True)
class Verdict:
    """`fired` means something is wrong; `message` says what was seen, with the number and what is usual."""

    instrument: str
    fired: bool
    message: str
    numbers: dict[str, float] = field(default_factory=dict)
    suspects: tuple[Suspect, ...] = ()
