"""Three hints, one at a time, from a nudge to the line; each opened hint is counted."""

import html
from collections.abc import Callable, Sequence
from typing import Any

from bugzoo import record
from bugzoo.errors import UserError
from bugzoo.lab.frontend import headless

_UNWRITTEN: dict[str, int] = {}
"""Ticket -> hints opened in this session, for when the record cannot be written."""


def opened(ticket: str) -> int:
    """Return how many hints of a ticket were opened, in this session or an earlier one; 0 for an unknown ticket."""
    entry = record.kept("hints", ticket) if ticket else None
    return max(int((entry or {}).get("opened", 0)), _UNWRITTEN.get(ticket, 0))


def tries(ticket: str) -> int:
    """Return how often the learner has tried: guesses that differ from the one before, and different programs judged.

    A guess is a cause and a line, kept or handed in. An unchanged program is no try, nor is one that cannot be graded.
    """
    notes = record.notes(ticket)
    guesses = [(note.get("cause"), note.get("place")) for note in notes if note["kind"] in ("hypothesis", "diagnosis")]
    new = [guess for before, guess in zip([None, *guesses], guesses, strict=False) if guess != before]
    judged = [note for note in notes if note["kind"] == "repair" and note.get("status", "wrong") in JUDGED]
    return len(new) + len({note.get("program", number) for number, note in enumerate(judged)})


JUDGED = ("wrong", "your code raised", "for a person", "passed")
"""States of a repair that was judged."""
STEPS = ("a nudge", "narrower", "the place")


TRY = "A try is a new guess, or a changed program that was judged."


class Hints:
    """Hints for one case. `texts`: three hints; `costs`: points for opening each; `ticket`: the case.

    An opened hint of a ticket stays open in every kernel. `tries`: returns how often the learner has tried. With it, each
    hint opens after one more try, and a closed one says so. Then none costs anything.
    """

    def __init__(
        self,
        texts: Sequence[str],
        *,
        ticket: str = "",
        costs: Sequence[float] = (1, 2, 3),
        tries: Callable[[], int] | None = None,
    ) -> None:
        if len(texts) != len(costs):
            raise UserError(f"There are {len(texts)} hints but {len(costs)} costs. Give one cost per hint.")
        self._texts, self.ticket, self._tries = tuple(texts), ticket, tries
        self.costs = tuple(costs) if tries is None else (0,) * len(costs)
        self.opened = min(opened(ticket), len(texts))

    @property
    def cost(self) -> float:
        """Return the points spent so far."""
        return sum(self.costs[: self.opened])

    def closed(self) -> str:
        """Return why the next hint cannot be opened yet, in a sentence; "" if it can be."""
        if self.opened == len(self._texts):
            return "There are no more hints."
        count = self.opened + 1 if self._tries is None else self._tries()
        if count > self.opened:
            return ""
        needed = f"{self.opened + 1} {'tries' if self.opened else 'try'}"
        return f"Hint {self.opened + 1} opens after {needed}. You have made {count}. {TRY}"

    def next(self) -> str:
        """Open the next hint and return it; or say why it is still closed."""
        if why := self.closed():
            return why
        self.opened += 1
        if self.ticket:
            if not record.keep("hints", self.ticket, {"opened": self.opened, "cost": self.cost}):
                _UNWRITTEN[self.ticket] = self.opened
        return self._texts[self.opened - 1]

    def show(self) -> "Hints":
        """Show a button that opens the next hint, or a line of text without a front end."""
        if headless():
            price = f"They cost {', '.join(map(str, self.costs))} points."
            price = price if self._tries is None else f"Each opens after one more try. {TRY}"
            print(f"{len(self._texts)} hints; hints.next() opens one. {price}")
            return self
        import ipywidgets as w

        from bugzoo.lab import page

        self.button = w.Button(icon="lightbulb-o", layout={"width": "300px"})
        self.shown = w.HTML()
        self.button.on_click(self._pressed)
        self._handle = page.put(page.form([self.button, self.shown]))
        self._draw()
        return self

    def _pressed(self, _: Any) -> None:
        why = self.closed()
        self.next()
        self._draw(why)

    def _draw(self, why: str = "") -> None:
        from bugzoo.lab import page

        left = self.opened < len(self._texts)
        name = STEPS[self.opened] if left and len(self._texts) == len(STEPS) else "the next one"
        price = f" (costs {self.costs[self.opened]:g})" if left and self._tries is None else ""
        self.button.description = f"Hint {self.opened + 1}: {name}{price}" if left else "No more hints"
        self.button.disabled = not left
        read = self._texts[: self.opened]
        rows = "".join(f"<li>{html.escape(text)}</li>" for text in read)
        spent = html.escape(why) if self._tries else f"Spent on hints: {self.cost:g}"
        self.shown.value = f'<div class="bugzoo-status"><ol>{rows}</ol>{spent}</div>' if read or why else ""
        page.keep(self._handle, "\n".join([f"Hints opened: {len(read)} of {len(self._texts)}.", *read]))

    def __repr__(self) -> str:
        return f"<Hints {self.ticket}: {self.opened} of {len(self._texts)} opened, {self.cost:g} points>"
