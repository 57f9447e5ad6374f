"""What is offered as a cause, and as the test that tells it from what looks like it: drawn from the fault's look-alikes.

Forms, interviews, exercises and quizzes ask here, so that nobody writes choices down a second time.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bugzoo import faults
from bugzoo.diagnostics import causes as table
from bugzoo.faults.model import Fault, LookAlike

LETTERS = "ABCDEFG"
WRONG = 3
"""Choices beside the right one."""


@dataclass(frozen=True)
class Choices:
    """Texts as they are offered, and the letter of the right one; both empty where a fault names no look-alike.

    `whys`: what to tell whoever chose it, one for each text. They speak of what would have been seen and name no cause.
    """

    texts: tuple[str, ...] = ()
    letter: str = ""
    whys: tuple[str, ...] = ()


def choices(fault: Fault, key: str, beside: Sequence[str] = ()) -> Choices:
    """One test of this fault's and three of other faults', in an order that `key` (a ticket) settles.

    `beside`: ids of the faults that lend theirs; drawn from the whole catalogue where there are none. A test that tells
    this fault from something is never offered as a wrong one.
    """
    if not fault.look_alikes:
        return Choices()
    draw = random.Random(key)
    right = fault.look_alikes[0]
    if beside:
        wrong = [_lent(faults.load(fault_id), fault) for fault_id in beside]
    else:
        others = [other for other in faults.catalogue().values() if other.id != fault.id and _lends(other, fault)]
        wrong = [_lent(other, fault) for other in draw.sample(others, min(WRONG, len(others)))]
    told = [(right.test, f"Here: {said(right.here)} With what looks like it: {said(right.there)}")]
    told += [(one.test, "That tells two other causes apart.") for one in wrong]
    return _shuffled(draw, told)


def causes(fault: Fault, params: Mapping[str, Any], key: str) -> Choices:
    """The word for this fault's cause and three that are wrong: first those of its look-alikes, then any of the table.

    No word that is true of the fault with these parameters is offered as a wrong one.
    """
    draw = random.Random(f"{key} cause")  # the right ones of two questions should not stand in the same place
    true = table.right(fault.id, params)
    first = fault.look_alikes[0] if fault.look_alikes else None
    why = f"{first.test} {said(first.here)}" if first else "It is what the run shows."
    told = {true[0]: why}
    for one in fault.look_alikes:
        word = table.cause(one.other).word
        if word not in (*true, table.OTHER) and len(told) <= WRONG:
            told.setdefault(word, _refuted(one))
    rest = [word for word in table.words() if word not in (*told, *true, table.OTHER)]
    for word in draw.sample(rest, WRONG + 1 - len(told)):
        told[word] = "Nothing that this run shows speaks for it."
    return _shuffled(draw, list(told.items()))


def said(text: str) -> str:
    """A look-alike's sentence without the claim in backticks that proves it, whose words would tell too much."""
    return re.sub(r":?\s*`[^`]*`", "", text)


def _refuted(one: LookAlike) -> str:
    return f"{one.test} If it were that: {said(one.there)} Here: {said(one.here)}"


def _shuffled(draw: random.Random, told: list[tuple[str, str]]) -> Choices:
    """The first one is right."""
    right = told[0][0]
    draw.shuffle(told)
    texts = tuple(text for text, _ in told)
    return Choices(texts, LETTERS[texts.index(right)], tuple(why for _, why in told))


def _lends(other: Fault, fault: Fault) -> list[LookAlike]:
    own = {one.test for one in fault.look_alikes}
    return [one for one in other.look_alikes if one.other != fault.id and one.test not in own]


def _lent(other: Fault, fault: Fault) -> LookAlike:
    tests = _lends(other, fault)
    if not tests:
        raise ValueError(f"{other.id} has no test that could stand beside that of {fault.id} as a wrong one")
    return tests[0]
