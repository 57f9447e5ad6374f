"""What a candidate writes, in words of his own -> a word of the table of causes."""

import math
import re
from collections.abc import Iterable
from functools import cache

from bugzoo import faults
from bugzoo.diagnostics import causes
from bugzoo.errors import UserError

ENOUGH = 0.65
"""Of a phrase's weight that has to stand in what was written."""
CLEAR = 1.15
"""By how much the best phrase has to be ahead of the best one of another cause."""
MOST = 3
"""Causes between which somebody is asked to choose."""
LONGEST = 300
"""Characters that are looked at."""

_EMPTY = frozenset(
    "a an and are as at be been but by can do does for from has have i in into is it its of on one or so some than "
    "that the their them then there these they this to too was were what when where which while who with you your we think "
    "because somebody something".split()
)
_SPELT = {
    "not": "no", "nothing": "no", "isn": "no", "doesn": "no", "forgot": "missing", "forgotten": "missing",
    "never": "missing", "without": "missing", "lacks": "missing", "absent": "missing", "still": "left", "summed": "sum",
    "averaged": "mean", "average": "mean", "zeroed": "zerograd", "zero": "zerograd", "zeroing": "zerograd",
    "cleared": "zerograd", "accumulate": "accumulat", "lr": "rate", "learningrate": "rate", "softmaxed": "softmax",
    "normalised": "normalis", "normalized": "normalis", "initialized": "initialis", "eval": "evaluat", "grads": "gradient",
    "grad": "gradient", "val": "validat", "detached": "detach", "dims": "dimension", "dim": "dimension",
    "axis": "dimension", "optimiser": "optimizer", "scheduler": "schedul", "schedule": "schedul", "twice": "double",
    "shuffled": "shuffl", "logarithm": "log", "backprop": "backward", "oom": "memory", "checkpointed": "checkpoint",
}  # fmt: skip
"""Words that people use for one another, before their ends are cut."""


def stems(text: str) -> frozenset[str]:
    """The telling words of a text, their ends cut: `missing zero_grad()` -> {"missing", "zerograd", "gradient"}."""
    found = set()
    for word in re.findall(r"[a-z0-9]+", text.lower()[:LONGEST].replace("zero_grad", "zerograd gradient")):
        word = _SPELT.get(str(word), str(word))
        for end in ("ing", "ed", "es", "s", "e"):
            if word not in _SPELT.values() and word.endswith(end) and len(word) - len(end) >= 3:
                word = word[: -len(end)]
                break
        if word not in _EMPTY:
            found.add(_SPELT.get(word, word))
    return frozenset(found)


@cache
def _phrases(ids: tuple[str, ...]) -> dict[frozenset[str], str]:
    """What people may write, as stems -> the cause's word: the table's own words, others for them, titles of faults."""
    found: dict[frozenset[str], str] = {}
    for name in ids:
        row = causes.cause(name)
        for text in (faults.load(name).title, name.rpartition("/")[2].replace("_", " ")):
            if not faults.load(name).trap:
                found.setdefault(stems(text), row.word)
    for key, row in causes.CAUSES.items():
        for text in (*row.also, causes.cause(key).word):
            found[stems(text)] = causes.cause(key).word
    found.pop(frozenset(), None)
    return found


@cache
def _weights(ids: tuple[str, ...]) -> dict[str, float]:
    """Stem -> how telling it is: the fewer causes use it, the more."""
    used: dict[str, set[str]] = {}
    for phrase, word in _phrases(ids).items():
        for stem in phrase:
            used.setdefault(stem, set()).add(word)
    return {stem: math.log(1 + 40 / len(words)) for stem, words in used.items()}


def meant(text: str) -> tuple[str, ...]:
    """The words of the table that somebody may mean, the likeliest first: one where it is clear, at most three.

    Raises UserError where nothing in it is known.
    """
    try:
        return (causes.named(text),)
    except UserError:
        pass
    ids = tuple(name for name in faults.catalogue() if ":" not in name)
    given, weights = stems(text), _weights(ids)
    best: dict[str, float] = {}
    for phrase, word in _phrases(ids).items():
        whole, there = _weight(phrase, weights), _weight(phrase & given, weights)
        if there >= ENOUGH * whole and len(phrase & given) >= min(len(phrase), 2):
            best[word] = max(best.get(word, 0.0), there * there / whole)
    ranked = sorted(best, key=lambda word: (-best[word], word))
    if not ranked:
        raise UserError(
            f"{text.strip()[:60]!r} names no cause that is known here. Say it in other words, or type ? for the list."
        )
    return tuple(word for word in ranked[:MOST] if best[ranked[0]] < CLEAR * best[word])


def _weight(phrase: Iterable[str], weights: dict[str, float]) -> float:
    return sum(weights.get(stem, 0.0) for stem in phrase)
