"""Questions that are answered by arranging lines: match each left with its right, or put lines in order.

The lines are shuffled by a seed from the question's key, so that they stand in the same places each time.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import pairwise
from typing import Any

from bugzoo.course.questions import Match, Order
from bugzoo.errors import UserError
from bugzoo.lab.quiz_widgets import LETTERS, plain


def shuffled(texts: Sequence[str], key: str, moved: bool = False) -> tuple[str, ...]:
    """Return the texts in an order that depends on `key` alone. `moved`: never in the given order."""
    generator = random.Random(int.from_bytes(sha256(key.encode()).digest()))
    mixed = list(texts)
    generator.shuffle(mixed)
    while moved and mixed == list(texts):
        generator.shuffle(mixed)
    return tuple(mixed)


def _letters(given: Any, length: int, allowed: str, example: str, once: bool) -> str:
    """Return an answer of letters without spaces and commas. Raises UserError."""
    letters = "".join(str(given).lower().replace(",", " ").split())
    if len(letters) != length or set(letters) - set(allowed) or (once and len(set(letters)) < length):
        each = "each once" if once else "a letter for each line"
        raise UserError(
            f"{str(given)[:40]!r} is not an answer. Write {length} letters from {', '.join(allowed)}, {each}, "
            f"such as {example!r}; this cost no try."
        )
    return letters


@dataclass(frozen=True)
class MatchQuestion:
    """Each left belongs to one right. An answer has a letter for each left: `bca` gives the first left the right b."""

    asked: Match
    key: str
    lefts: tuple[str, ...] = field(init=False)
    rights: tuple[str, ...] = field(init=False)
    """As offered: shuffled, each once."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "lefts", tuple(left for left, _ in self.asked.pairs))
        rights = dict.fromkeys(right for _, right in self.asked.pairs)
        object.__setattr__(self, "rights", shuffled(list(rights), self.key))

    @property
    def text(self) -> str:
        return self.asked.text

    @property
    def how(self) -> str:
        """What to type without a front end; the example is always wrong, as not all lefts share one right."""
        return f'("{len(self.lefts) * "a"}"), with your letter for each line'

    def read(self, given: Any) -> str:
        """Return an answer as letters. Raises UserError."""
        allowed = LETTERS[: len(self.rights)]
        return _letters(given, len(self.lefts), allowed, len(self.lefts) * "a", once=False)

    def hits(self, said: str) -> int:
        """Return how many lefts have their right."""
        pairs = zip(said, self.asked.pairs, strict=True)
        return sum(self.rights[LETTERS.index(letter)] == right for letter, (_, right) in pairs)

    def right(self, said: str) -> bool:
        """Return whether each left has its right."""
        return self.hits(said) == len(self.lefts)

    def reply(self, said: str) -> str:
        """Return how many are right; with all of them, the explanation."""
        if self.right(said):
            return f"Right: {self.asked.why}"
        return f"Not quite: {self.hits(said)} of {len(self.lefts)} are right."

    def lines(self) -> str:
        """Return the question with numbered lefts and lettered rights, as text."""
        lefts = [f"  {number}. {plain(left)}" for number, left in enumerate(self.lefts, 1)]
        rights = [f"  {LETTERS[place]}) {plain(right)}" for place, right in enumerate(self.rights)]
        return "\n".join([plain(self.text), *lefts, *rights])

    def ask(self, chosen: Callable[[Any], str], said: str = "") -> Any:
        """Show a list of rights beside each left. Return (the controls, the reply below them)."""
        from bugzoo.lab.arrange_widgets import ask_match

        return ask_match(self, chosen)


@dataclass(frozen=True)
class OrderQuestion:
    """Lines to put in order. An answer names them by their letters as shown: `cab` puts the third one first."""

    asked: Order
    key: str
    shown: tuple[str, ...] = field(init=False)
    """The lines as shown: shuffled, never in order."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "shown", shuffled(self.asked.items, self.key, moved=True))

    @property
    def text(self) -> str:
        return self.asked.text

    @property
    def how(self) -> str:
        """What to type without a front end; the example is always wrong, as the lines are never shown in order."""
        return f'("{LETTERS[: len(self.shown)]}"), with the letters in your order'

    def read(self, given: Any) -> str:
        """Return an answer as letters. Raises UserError."""
        allowed = LETTERS[: len(self.shown)]
        return _letters(given, len(self.shown), allowed, allowed, once=True)

    def hits(self, said: str) -> int:
        """Return how many neighbors stand in the right order, of one less than there are lines."""
        places = [self.asked.items.index(self.shown[LETTERS.index(letter)]) for letter in said]
        return sum(first < second for first, second in pairwise(places))

    def right(self, said: str) -> bool:
        """Return whether all lines are in order."""
        return self.hits(said) == len(self.shown) - 1

    def reply(self, said: str) -> str:
        """Return how many neighbors are in order; with all of them, the explanation."""
        if self.right(said):
            return f"Right: {self.asked.why}"
        return f"Not quite: {self.hits(said)} of {len(self.shown) - 1} pairs of neighbors are in order."

    def lines(self) -> str:
        """Return the question with lettered lines, as text."""
        listed = [f"  {LETTERS[place]}) {plain(line)}" for place, line in enumerate(self.shown)]
        return "\n".join([plain(self.text), *listed])

    def ask(self, chosen: Callable[[Any], str], said: str = "") -> Any:
        """Show the lines with buttons that move them. Return (the controls, the reply below them)."""
        from bugzoo.lab.arrange_widgets import ask_order

        return ask_order(self, chosen)
