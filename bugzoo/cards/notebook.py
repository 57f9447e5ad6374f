"""Cards in a notebook: the lines are the answers; a click, or an arrow key and Enter, names one."""

import html
import time
from typing import Any

from bugzoo.cards.card import ASKED, NONE, Card
from bugzoo.cards.deck import deal
from bugzoo.errors import UserError
from bugzoo.lab import page
from bugzoo.lab.frontend import headless
from bugzoo.lab.quiz_widgets import inline, status


class Hand:
    """Some cards on the table. `hand.answer(1, 80)` names line 80 of the first card; `score` is (right, answered)."""

    def __init__(self, cards: list[Card]) -> None:
        self.cards = cards
        self.said: dict[int, tuple[bool, str]] = {}
        """Number of a card, from 1 -> whether its answer was right, and what was told. The first answer counts."""
        self._since = time.monotonic()

    @property
    def score(self) -> tuple[int, int]:
        return sum(right for right, _ in self.said.values()), len(self.said)

    def answer(self, number: int, line: int) -> str:
        """Name a line of a card, by its number from 1, or 0 for none. Returns what is told. Raises UserError."""
        if not 1 <= number <= len(self.cards):
            raise UserError(f"There is no card {number}; they go from 1 to {len(self.cards)}.")
        if number not in self.said:
            now = time.monotonic()
            self.said[number] = self.cards[number - 1].answer(line, now - self._since)
            self._since = time.monotonic()
        return self.said[number][1]

    def show(self) -> "Hand":
        """Widgets, or text where nobody looks."""
        for number, card in enumerate(self.cards, 1):
            if headless():
                print(f"Card {number} of {len(self.cards)}\n\n{card.excerpt.text}\n")
            else:
                self._put(number, card)
        if headless():
            print(f"{ASKED}\nanswer(1, 0), or the card and the line that you choose")
        return self

    def _put(self, number: int, card: Card) -> None:
        import ipywidgets as w

        choice = w.RadioButtons(options=[(text, line) for line, text in _options(card)], value=None)
        choice.add_class("bugzoo-lines")
        told = w.HTML()

        def change(event: Any) -> None:
            if event["new"] is None:
                return
            said = inline(self.answer(number, event["new"]))
            choice.disabled = True
            shown = "\n".join(card.shown)
            beside = f"<pre>{html.escape(shown)}</pre>" if shown else "<br>"
            told.value = status(f"{said}{beside}{self._standing()}")

        choice.observe(change, "value")
        head = w.HTML(status(f"<b>Card {number} of {len(self.cards)}.</b> {inline(ASKED.removesuffix(' 0: none.'))}"))
        box = page.form([head, choice, told])
        box.add_class("bugzoo-check")
        page.keep(page.put(box), f"{card.excerpt.text}\n\n{ASKED} Run this cell to answer.")

    def _standing(self) -> str:
        right, said = self.score
        return f"{right} of {said} right." if said < len(self.cards) else f"<b>{right} of {said} right.</b>"

    def __dir__(self) -> list[str]:
        return ["answer", "score", "show"]

    def __repr__(self) -> str:
        right, said = self.score
        return f"<{len(self.cards)} cards, {said} answered, {right} right>"


def _options(card: Card) -> list[tuple[int, str]]:
    """(line, text) of what can be chosen, in order; a gap is shown with the line below it."""
    width = len(str(card.allowed[-1]))
    made, gap = [], False
    for line, text in card.excerpt.lines:
        if line and text.strip():
            made.append((line, f"{line:>{width}}{' … ' if gap else '   '}{text}"))
            gap = False
        gap |= not line
    return [*made, (0, f"{'':>{width}}   {NONE}")]


def show(lesson: str = "", count: int = 5, seed: int = 0, family: Any = ()) -> Hand:
    """Deal cards and show them: those of a lesson's families, of a family by name, or of all. Raises UserError."""
    return Hand(deal(count, seed, lesson, (family,) if isinstance(family, str) else family)).show()
