"""Whose variant is this text? By its lines, so that a notebook whose marks were taken out is known again.

Everybody's program is written in dialects of its own. Whoever hands in a neighbour's has the neighbour's lines, and few of
those that were drawn for him, whatever the notebook says of itself.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

CLEAR = 0.25
"""So much more of another's lines than of one's own is no chance: repairs change a few lines, and names some more."""


def sketch(text: str) -> list[str]:
    """Eight signs for each different line of a program, in order; blank lines and indentation do not count."""
    lines = dict.fromkeys(line.strip() for line in text.splitlines())
    return [hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest()[:8] for line in lines if line]


def share(text: str, lines: Sequence[str]) -> float:
    """The share of the sketch `lines` that stands in `text`, 0 to 1."""
    return len(set(sketch(text)) & set(lines)) / len(set(lines)) if lines else 0.0


def somebody_elses(text: str, student: str, people: Mapping[str, Mapping[str, Any]]) -> str:
    """A sentence, where the text is clearly the variant of somebody else; empty where it is not, or there are none."""
    own = people.get(student, {}).get("lines")
    if not own:
        return ""
    mine = share(text, own)
    shares = {name: share(text, facts.get("lines") or ()) for name, facts in people.items() if name != student}
    whose = max(shares, key=lambda name: shares[name], default="")
    if not whose or shares[whose] < mine + CLEAR:
        return ""
    return f"{shares[whose]:.0%} of the lines drawn for {whose} stand in it, and {mine:.0%} of its author's own"
