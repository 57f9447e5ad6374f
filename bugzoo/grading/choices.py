"""Which test tells a cause from what looks like it? The choices, drawn from the look-alikes that the faults' files name."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from bugzoo import faults
from bugzoo.faults.model import Fault

LETTERS = "ABCDEFG"
WRONG = 3
"""Choices beside the right one."""


@dataclass(frozen=True)
class Choices:
    """Tests as they are offered, and the letter of the right one; both empty where a fault names no look-alike."""

    texts: tuple[str, ...] = ()
    letter: str = ""


def choices(fault: Fault, key: str, beside: Sequence[str] = ()) -> Choices:
    """One test of this fault's and three of other faults', in an order that `key` (a ticket) settles.

    `beside`: ids of the faults that lend theirs; drawn from the whole catalogue where there are none. A test that tells
    this fault from something is never offered as a wrong one.
    """
    if not fault.look_alikes:
        return Choices()
    draw = random.Random(key)
    right = fault.look_alikes[0].test
    if beside:
        wrong = [_lent(faults.load(fault_id), fault) for fault_id in beside]
    else:
        others = [other for other in faults.catalogue().values() if other.id != fault.id and _lends(other, fault)]
        wrong = [_lent(other, fault) for other in draw.sample(others, min(WRONG, len(others)))]
    texts = [right, *wrong]
    draw.shuffle(texts)
    return Choices(tuple(texts), LETTERS[texts.index(right)])


def _lends(other: Fault, fault: Fault) -> list[str]:
    own = {one.test for one in fault.look_alikes}
    return [one.test for one in other.look_alikes if one.other != fault.id and one.test not in own]


def _lent(other: Fault, fault: Fault) -> str:
    tests = _lends(other, fault)
    if not tests:
        raise ValueError(f"{other.id} has no test that could stand beside that of {fault.id} as a wrong one")
    return tests[0]
