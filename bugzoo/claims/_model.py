"""`Claim`: what is said about training, and by whom; `Finding`: what our runs say to it."""

from collections.abc import Mapping
from dataclasses import InitVar, dataclass
from typing import Any

HOLDS, PART, NOT = "holds", "holds in part", "does not hold"
VERDICTS = (HOLDS, PART, NOT)

Numbers = dict[str, Any]
"""What was measured: numbers, or lists and dicts of them, that JSON can hold."""
Seen = Mapping[str, Numbers]
"""Name of a run -> what was read off it."""


@dataclass(frozen=True)
class Claim:
    """One sentence that is often heard, where it stands, and how it is tried here."""

    said: str
    """The claim in one sentence, as it is told."""
    by: str
    """Who says it, in a few words; where nobody in particular does, "folklore", with a place where it stands."""
    url: str
    """That place."""
    tried: str
    """On which of our programs, how often, and what would make it hold."""
    limits: str
    """What the measurement does not show."""
    timed: bool = False
    """It measures time: its runs go one at a time, and none of them is taken from the cache."""


@dataclass(frozen=True)
class Finding:
    """`verdict` is one of VERDICTS, `why` made of the measured numbers, and of `moral` where the claim does not simply hold."""

    verdict: str
    why: str
    moral: InitVar[str] = ""

    def __post_init__(self, moral: str) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"{self.verdict!r} is no verdict; it is one of {', '.join(VERDICTS)}")
        if moral and self.verdict != HOLDS:
            object.__setattr__(self, "why", f"{self.why} {moral}")
