"""The choices for a cause, and for the test that separates it from its look-alikes. The fault's file names both.

Forms, interviews, exercises and quizzes all take their choices from here.
"""

import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from bugzoo import faults
from bugzoo.diagnostics import causes as table
from bugzoo.faults.model import Fault, LookAlike

LETTERS = "ABCDEFG"
WRONG = 3
"""Number of wrong choices."""
OFFERED = 7
"""Number of causes in a form, without "something else"."""
ALIKE = 0.2
"""How much longer or shorter a wrong test may be, as a share of the right test's length."""


@dataclass(frozen=True)
class Choices:
    """The texts of the choices and the letter of the right one. Both are empty if a fault names no look-alike.

    `whys`: the reply to each choice, one for each text. It says what one would have seen and names no cause.
    """

    texts: tuple[str, ...] = ()
    letter: str = ""
    whys: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pair:
    """The question that follows a cause: which test tells it from its nearest look-alike, `other` (a cause in words)?

    `fault`: the id of the fault that stands for the cause.
    """

    fault: str
    other: str
    tests: Choices


def pairs(fault: Fault, params: Mapping[str, Any], key: str, menu: tuple[str, ...]) -> dict[str, Pair]:
    """Return the pair of each cause in a form's menu; "nothing is wrong" and "something else" have none.

    For a wrong cause stands the look-alike with that word, else the most similar fault with it. So a question follows
    every cause, and none can be ruled out by what is asked.
    """
    candidates = {word: pair(fault, params, key, word, menu) for word in menu}
    return {word: candidate for word, candidate in candidates.items() if candidate is not None}


def pair(
    fault: Fault, params: Mapping[str, Any], key: str, word: str, menu: tuple[str, ...], beside: tuple[str, ...] = ()
) -> Pair | None:
    """Return the pair of one cause, with a rival from the menu where one of its look-alikes is there; None without any, and
    where nothing is wrong.

    `beside`: words that are true as well, of another fault: the test tells this fault from none of them.
    """
    true = table.right(fault.id, params)
    words = (*true, *beside) if word in true else (word,)
    suspects = [fault] if word in true else list(standing_for(word, fault, key))
    likes = [
        (suspect, like)
        for suspect in suspects
        for like in suspect.look_alikes
        if _word(like) not in (*words, table.OTHER)
    ]
    if not likes or word == table.NOTHING:
        return None
    suspect, like = min(likes, key=lambda entry: _word(entry[1]) not in menu)  # the first one, if none is in the menu
    return Pair(suspect.id, _word(like), choices(suspect, key if suspect is fault else f"{key} {suspect.id}", like))


def standing_for(word: str, fault: Fault, key: str) -> Iterator[Fault]:
    """Yield the faults with a word that is not this fault's: its look-alikes first, then the most similar ones."""
    similar = [*(look_alike.other for look_alike in fault.look_alikes), *_alike(fault, random.Random(f"{key} {word}"))]
    ranked = _of_ranks(fault.id)
    for name in similar:  # with one process, a test about ranks would be easy to rule out
        if word != table.OTHER and table.cause(name).word == word and (ranked or not _of_ranks(name)):
            yield faults.load(name)


def _word(one: LookAlike) -> str:
    return table.cause(one.other).word


def choices(fault: Fault, key: str, like: LookAlike | None = None) -> Choices:
    """Return one test of this fault and three tests of similar faults, in an order that depends on `key` (a ticket).

    `like`: the look-alike that the right test tells it from; by default the nearest. All are about equally long. The
    right one is the shortest or the longest no more often than by chance. A wrong choice is never a test that separates
    this fault from another, nor a test of the right test's look-alike.
    """
    if not fault.look_alikes:
        return Choices()
    draw = random.Random(key)
    right = like or fault.look_alikes[0]
    lent = _lent(fault, right, draw)
    # how many wrong ones are shorter, if there are enough; adding a fault does not change this draw
    shorter = random.Random(f"{key} lengths").randrange(WRONG + 1)
    below = [text for text in lent if len(text) <= len(right.test)]
    above = [text for text in lent if len(text) > len(right.test)]
    wrong = below[:shorter] + above[: WRONG - shorter]
    wrong += [text for text in lent if text not in wrong][: WRONG - len(wrong)]
    answers = [(right.test, f"Here: {said(right.here)} With what looks like it: {said(right.there)}")]
    answers += [(text, "That tells two other causes apart.") for text in wrong]
    return _shuffled(random.Random(f"{key} places"), answers)  # adding a fault does not move the right one


def causes(fault: Fault, params: Mapping[str, Any], key: str) -> Choices:
    """Return this fault's cause and three wrong ones: first those of its look-alikes, then any from the table.

    No cause that is true of the fault with these parameters is offered as a wrong one.
    """
    draw = random.Random(f"{key} cause")  # so that two questions do not have the right answer in the same place
    true = table.right(fault.id, params)
    first = fault.look_alikes[0] if fault.look_alikes else None
    why = f"{first.test} {said(first.here)}" if first else "It is what the run shows."
    replies = {true[0]: why}
    for look_alike in fault.look_alikes:
        word = table.cause(look_alike.other).word
        if word not in (*true, table.OTHER) and len(replies) <= WRONG:
            replies.setdefault(word, _refuted(look_alike))
    rest = [word for word in table.words() if word not in (*replies, *true, table.OTHER)]
    for word in draw.sample(rest, WRONG + 1 - len(replies)):
        replies[word] = "Nothing that this run shows speaks for it."
    return _shuffled(draw, list(replies.items()))


def said(text: str) -> str:
    """Return a look-alike's sentence without the claim in backticks, which would give too much away."""
    return re.sub(r":?\s*`[^`]*`", "", text)


def _refuted(one: LookAlike) -> str:
    return f"{one.test} If it were that: {said(one.there)} Here: {said(one.here)}"


def _shuffled(draw: random.Random, told: list[tuple[str, str]]) -> Choices:
    """The first one is right."""
    right = told[0][0]
    draw.shuffle(told)
    texts = tuple(text for text, _ in told)
    return Choices(texts, LETTERS[texts.index(right)], tuple(why for _, why in told))


def offered(
    fault: Fault,
    params: Mapping[str, Any],
    key: str,
    also: tuple[str, ...] = (),
    possible: Callable[[str], bool] = bool,
) -> tuple[str, ...]:
    """Return the causes for a form: every true one, those of the look-alikes, "nothing is wrong" and others.

    `also`: words that must be among them, such as what a decoy looks like. `possible`: whether the program can have a
    cause. Their order is drawn, and "something else" is last. The others are about as long as the true one.
    """
    draw = random.Random(f"{key} form")
    true = table.right(fault.id, params)
    like = [
        table.cause(name).word
        for name in (*(look_alike.other for look_alike in fault.look_alikes), *_alike(fault, draw))
    ]
    near = sorted(table.words(), key=lambda word: (abs(len(word) - len(true[0])) // 6, draw.random()))
    longer = [word for word in near if len(word) > len(true[0])][:2]
    words = dict.fromkeys(word for word in (*true, table.NOTHING, *also, *longer, *like, *near) if word != table.OTHER)
    if not _of_ranks(fault.id):  # with one process, a cause about ranks would be easy to rule out, and has no question
        single = {table.cause(name).word for name in faults.catalogue() if not _of_ranks(name)}
        words = dict.fromkeys(word for word in words if word in single or word in also)
    sure = (*true, *also, table.NOTHING)
    fitting = [word for word in words if word in sure or possible(word)]
    while alone := [
        word for word in fitting[:OFFERED] if word not in sure and not _rivals(word, fault, key) & {*fitting[:OFFERED]}
    ]:
        fitting = [word for word in fitting if word not in alone]  # no test would tell it from another choice
    return (*random.Random(f"{key} menu").sample(sorted(fitting[:OFFERED]), len(fitting[:OFFERED])), table.OTHER)


def _rivals(word: str, fault: Fault, key: str) -> set[str]:
    """Return the words of the look-alikes of the faults that stand for a wrong cause."""
    return {_word(like) for suspect in standing_for(word, fault, key) for like in suspect.look_alikes} - {word}


def _alike(fault: Fault, draw: random.Random) -> list[str]:
    """Return the other faults, the most similar first: look-alikes, then shared look-alikes, then the same symptom."""
    neighbours = {look_alike.other for look_alike in fault.look_alikes}

    def far(other: Fault) -> int:
        theirs = {look_alike.other for look_alike in other.look_alikes}
        signs = (
            other.id in neighbours or fault.id in theirs,
            bool(neighbours & theirs),
            other.symptom == fault.symptom,
        )
        return next((rank for rank, sign in enumerate(signs) if sign), len(signs))

    key = str(draw.random())  # sorted by a hash of each name, so that adding a fault does not move the others
    others = [other for other in faults.catalogue() if other != fault.id]
    return sorted(others, key=lambda name: (far(faults.load(name)), sha256(f"{key} {name}".encode()).digest()))


def _of_ranks(fault_id: str) -> bool:
    return fault_id.rpartition(":")[2].startswith("distributed/")


def _lent(fault: Fault, right: LookAlike, draw: random.Random) -> list[str]:
    """Return tests that separate two other causes and are about as long as the right one, most similar faults first.

    If there are too few of that length, others follow.
    """
    length = len(right.test)
    tests = {look_alike.test for look_alike in fault.look_alikes}
    texts: list[str] = []
    for name in _alike(fault, draw):
        # with one process, a test about ranks would be easy to rule out
        if name == right.other or (_of_ranks(name) and not _of_ranks(fault.id)):
            continue
        others = (
            look_alike
            for look_alike in faults.load(name).look_alikes
            if look_alike.other not in (fault.id, right.other)
        )
        lends = [look_alike.test for look_alike in others if look_alike.test not in tests]
        texts += draw.sample(lends, len(lends))
    texts = list(dict.fromkeys(texts))
    suspects = (fault.id, right.other)  # one sentence may serve several faults
    everyone = [(other.id, look_alike) for other in faults.catalogue().values() for look_alike in other.look_alikes]
    telling = {look_alike.test for name, look_alike in everyone if look_alike.other in suspects or name == right.other}
    fits = [text for text in texts if abs(len(text) - length) <= ALIKE * length and text not in telling]
    return fits if len(fits) >= WRONG else fits + [text for text in texts if text not in fits and text not in telling]
