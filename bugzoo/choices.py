"""What is offered as a cause, and as the test that tells it from what looks like it: drawn from the fault's look-alikes.

Forms, interviews, exercises and quizzes ask here, so that nobody writes choices down a second time.
"""

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from bugzoo import faults
from bugzoo.diagnostics import causes as table
from bugzoo.faults.model import Fault, LookAlike

LETTERS = "ABCDEFG"
WRONG = 3
"""Choices beside the right one."""
OFFERED = 7
"""Causes that a form offers, beside "something else"."""
ALIKE = 0.2
"""By how much of the right test's length a wrong one may be longer or shorter."""


@dataclass(frozen=True)
class Choices:
    """Texts as they are offered, and the letter of the right one; both empty where a fault names no look-alike.

    `whys`: what to tell whoever chose it, one for each text. They speak of what would have been seen and name no cause.
    """

    texts: tuple[str, ...] = ()
    letter: str = ""
    whys: tuple[str, ...] = ()


def choices(fault: Fault, key: str) -> Choices:
    """One test of this fault's and three of faults that are like it, in an order that `key` (a ticket) settles.

    All are about equally long, and the right one is the shortest or the longest no more often than chance has it. A test
    that tells this fault from something is never offered as a wrong one, nor one of what the right test tells it from.
    """
    if not fault.look_alikes:
        return Choices()
    draw = random.Random(key)
    right = fault.look_alikes[0]
    lent = _lent(fault, right, draw)
    # so many of the wrong ones are shorter, where there are as many; a fault that is added does not draw it anew
    shorter = random.Random(f"{key} lengths").randrange(WRONG + 1)
    below = [text for text in lent if len(text) <= len(right.test)]
    above = [text for text in lent if len(text) > len(right.test)]
    wrong = below[:shorter] + above[: WRONG - shorter]
    wrong += [text for text in lent if text not in wrong][: WRONG - len(wrong)]
    told = [(right.test, f"Here: {said(right.here)} With what looks like it: {said(right.there)}")]
    told += [(text, "That tells two other causes apart.") for text in wrong]
    return _shuffled(random.Random(f"{key} places"), told)  # so that a fault that is added moves the right one nowhere


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


def offered(fault: Fault, params: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """The causes that a form offers: every word that is true, those of what looks like it, "nothing is wrong" and others.

    Sorted; "something else" comes last. The others are about as long as the true one.
    """
    draw = random.Random(f"{key} form")
    true = table.right(fault.id, params)
    like = [table.cause(name).word for name in (*(one.other for one in fault.look_alikes), *_alike(fault, draw))]
    near = sorted(table.words(), key=lambda word: (abs(len(word) - len(true[0])) // 6, draw.random()))
    longer = [word for word in near if len(word) > len(true[0])][:2]
    words = dict.fromkeys(word for word in (*true, table.NOTHING, *longer, *like, *near) if word != table.OTHER)
    return (*sorted(list(words)[:OFFERED]), table.OTHER)


def _alike(fault: Fault, draw: random.Random) -> list[str]:
    """The other faults of the catalogue, those that are most like this one first: a look-alike of it, one that shares a
    look-alike with it, one with the same symptom.
    """
    own = {one.other for one in fault.look_alikes}

    def far(other: Fault) -> int:
        theirs = {one.other for one in other.look_alikes}
        signs = (other.id in own or fault.id in theirs, bool(own & theirs), other.symptom == fault.symptom)
        return next((rank for rank, sign in enumerate(signs) if sign), len(signs))

    key = str(draw.random())  # by a hash of each name, so that a fault that is added moves none of the others
    others = [other for other in faults.catalogue() if other != fault.id]
    return sorted(others, key=lambda name: (far(faults.load(name)), sha256(f"{key} {name}".encode()).digest()))


def _of_ranks(fault_id: str) -> bool:
    return fault_id.rpartition(":")[2].startswith("distributed/")


def _lent(fault: Fault, right: LookAlike, draw: random.Random) -> list[str]:
    """Tests that tell two other causes apart and are about as long as the right one, those of the faults that are most
    like this one first. Where too few are about as long, others follow.
    """
    length = len(right.test)
    own = {one.test for one in fault.look_alikes}
    texts: list[str] = []
    for name in _alike(fault, draw):
        # nobody takes a test of ranks for the answer where there is one process
        if name == right.other or (_of_ranks(name) and not _of_ranks(fault.id)):
            continue
        others = (one for one in faults.load(name).look_alikes if one.other not in (fault.id, right.other))
        lends = [one.test for one in others if one.test not in own]
        texts += draw.sample(lends, len(lends))
    texts = list(dict.fromkeys(texts))
    mine = (fault.id, right.other)  # one sentence may serve several faults
    everyone = [(other.id, one) for other in faults.catalogue().values() for one in other.look_alikes]
    telling = {one.test for name, one in everyone if one.other in mine or name == right.other}
    fits = [text for text in texts if abs(len(text) - length) <= ALIKE * length and text not in telling]
    return fits if len(fits) >= WRONG else fits + [text for text in texts if text not in fits and text not in telling]
