"""Kinds of attack on a grade, each with the reason why it earns nothing.

Counted is what differs in kind: an entry here is another means (another door, another file, another moment), or another
pair of a hiding with a forging; the same text on another case, seed or exercise is not counted once more. `known()` counts
those that other tests hold, by the same rule.
"""

from bugzoo.proving.attacks import _EDITS
from tests.grading import in_time, tricks
from tests.grading.attack_kinds import asking, dodges, forged, found, hidden, notebooks, outside, pairs, replaced, text
from tests.grading.attack_kinds.parts import Kind

FAMILIES: dict[str, dict[str, Kind]] = {
    "forged": forged.KINDS, "found": found.KINDS, "replaced": replaced.KINDS, "hidden": hidden.KINDS,
    "asking": asking.KINDS | dodges.KINDS, "outside": outside.KINDS, "text": text.KINDS, "pairs": pairs.KINDS,
}  # fmt: skip
KINDS = {f"{family}: {name}": kind for family, kinds in FAMILIES.items() for name, kind in kinds.items()}


def known() -> int:
    """Attacks that stand in other tests: lazy repairs, single rules, tricks, burdens, partial repairs, generic ones."""
    return sum(map(len, (tricks.LAZY, tricks.SINGLE, tricks.ATTACKS, tricks.BURDENS, _EDITS))) + sum(
        map(len, in_time.IN_TIME.values())
    )


def count() -> int:
    """All kinds in all tests together."""
    return known() + len(KINDS) + len(notebooks.KINDS)
