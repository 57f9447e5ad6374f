"""What somebody wrote in his own words -> the bugs that he means: no menu to recognise the answer in.

A paragraph and each fault of the catalogue that the program could have are laid side by side as words, stemmed, a word
counting by how rare it is among the faults (inverse document frequency, K. Spärck Jones, Journal of Documentation 28, 1972). A
paragraph means a planted bug that is among the nearest few, or whose line it names and which is among the nearer ones.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from bugzoo import faults as catalogue
from bugzoo.diagnostics.causes import cause
from bugzoo.scenario import fits

NEAR, NEARER = 4, 20
"""A planted bug may be so far down the list of what a paragraph could mean: by words alone, with its line."""
LEAST = 0.08
"""Cosine below which a paragraph and a fault have nothing to do with each other."""
BESIDE = 1
"""Lines by which a line may be off."""
SHORTEST = 1
"""Word; what has fewer is a heading or a mark."""
_STOP = frozenset(
    "a an the is are was were be been of to in on at for and or not no it its this that these those with without by from as "
    "than then so but if when which who what where how why i we you they he she there here has have had do does did can could "
    "should would must may might will very more most less only just also too again into out up line train py fix fixed repair "
    "repaired change changed bug wrong instead because now add added move moved each every step run training model "
    "look looks fine everything good bad think seem seems well me my us our".split()
)
_ENDINGS = "isation ization ations ation ingly ities ness ment ings ing ised ized ies ed es er ly s e".split()
_ALIKE = {
    "zero_grad": "gradient clear stale", "grad": "gradient", "grads": "gradient", "lr": "learning rate", "nan": "finite nan",
    "inf": "finite infinite", "logits": "logit", "optimiser": "optimizer", "eval": "evaluation mode", "ce": "cross entropy",
    "val": "validation", "init": "initialisation", "bn": "batchnorm", "attn": "attention", "oom": "memory", "amp": "half",
    "fp16": "half precision", "dataloader": "loader", "shuffled": "shuffle order", "xavier": "initialisation",
}  # fmt: skip
"""What people write -> what the catalogue says."""


@dataclass(frozen=True)
class Finding:
    """One paragraph, the lines that it names, and the planted bug that it means; "" for none."""

    text: str
    lines: tuple[int, ...]
    means: str = ""


def paragraphs(text: str) -> list[str]:
    """The findings of a file: parts between empty lines; items of a list are one each. Headings and comments are none."""
    text = re.sub(r"<!--.*?(-->|\Z)", "", text, flags=re.DOTALL)
    found: list[str] = []
    for block in re.split(r"\n\s*\n", text):
        lines = [line for line in block.splitlines() if line.strip() and not line.lstrip().startswith("#")]
        item: list[str] = []
        for line in lines:
            if re.match(r"\s{0,3}([-*+]|\d{1,2}[.)])\s", line) and item:
                found.append(" ".join(item))
                item = []
            item.append(line.strip())
        if item:
            found.append(" ".join(item))
    return [one for one in found if len(stems(one)) >= SHORTEST or named_lines(one)][:50]


def named_lines(text: str) -> tuple[int, ...]:
    """The lines that a text names: `line 57`, `l. 57`, `train.py:57`, `L57`, `lines 57-59`."""
    found: list[int] = []
    for first, last in re.findall(
        r"(?:\blines?\s+|\bl\.\s*|\bL|train\.py:)(\d{1,4})(?:\s*(?:-|–|to|and)\s*(\d{1,4}))?", text
    ):
        found += range(int(first), min(int(last or first), int(first) + 20) + 1)
    return tuple(found)


def stems(text: str) -> Counter[str]:
    """Stem -> how often."""
    found: Counter[str] = Counter()
    for word in re.findall(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*", text.lower()):
        for one in [word, *(word.split("_") if "_" in word else ())]:
            for part in [one, *_ALIKE.get(one, "").split()]:
                if part not in _STOP and len(part) > 1:
                    found[_stem(part)] += 1
    return found


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


class Table:
    """Things with the words that speak of them, to be found by what somebody writes."""

    def __init__(self, said: Mapping[str, Counter[str]]) -> None:
        of = Counter(word for words in said.values() for word in words)
        self._rare = {word: math.log((1 + len(said)) / (0.5 + n)) for word, n in of.items()}
        self._rows = {name: self._unit(words) for name, words in said.items()}

    def _unit(self, words: Mapping[str, float]) -> dict[str, float]:
        weighed = {word: (1 + math.log(n)) * self._rare[word] for word, n in words.items() if word in self._rare}
        length = math.sqrt(sum(value**2 for value in weighed.values())) or 1.0
        return {word: value / length for word, value in weighed.items()}

    def ranked(self, text: str) -> list[tuple[str, float]]:
        """(name, likeness from 0 to 1) of all, the nearest first."""
        given = self._unit(stems(text))
        found = [(name, sum(given[word] * row.get(word, 0.0) for word in given)) for name, row in self._rows.items()]
        return sorted(found, key=lambda one: (-one[1], one[0]))


@lru_cache(maxsize=32)
def _table(program: str) -> Table:
    """All faults that fit a program."""
    counts: dict[str, Counter[str]] = {}
    for name, fault in catalogue.catalogue().items():
        if not fault.trap and program in fits(fault):
            row = cause(name)
            heavy = f"{fault.title} {name.split('/')[1]} {' '.join(row.also)} "
            counts[name] = stems(heavy * 3 + f"{row.word} {name.split('/')[0]} {fault.fix} {fault.fix} {fault.why}")
    return Table(counts)


def ranked(text: str, program: str) -> list[tuple[str, float]]:
    """(fault, likeness from 0 to 1) of all that a program could have, the nearest first."""
    return _table(program).ranked(text)


def findings(text: str, program: str, planted: Mapping[str, Sequence[tuple[int, int]]]) -> list[Finding]:
    """Each paragraph with the planted bug (id -> its line ranges) that it means. A bug is meant once, by what says it best."""
    told = [(one, named_lines(one), ranked(one, program)) for one in paragraphs(text)]
    offers: list[tuple[float, int, str]] = []
    for place, (_, lines, order) in enumerate(told):
        for rank, (name, near) in enumerate(order):
            if name in planted and near > 0:
                at = any(a - BESIDE <= line <= b + BESIDE for line in lines for a, b in planted[name])
                if near >= LEAST and (rank < NEAR or (at and rank < NEARER)):
                    offers.append((near + (1.0 if at else 0.0), place, name))
    means: dict[int, str] = {}
    for _, place, name in sorted(offers, key=lambda one: (-one[0], one[1], one[2])):
        if place not in means and name not in means.values():
            means[place] = name
    return [Finding(text, lines, means.get(place, "")) for place, (text, lines, _) in enumerate(told)]
