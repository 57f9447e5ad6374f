"""Three hints, one at a time, from a nudge to the line; each opened hint is counted."""

import html
from collections.abc import Sequence
from typing import Any

from bugzoo import record
from bugzoo.errors import UserError
from bugzoo.lab.frontend import headless

_UNWRITTEN: dict[str, int] = {}
"""Ticket -> hints opened in this session, for when the record cannot be written."""


def opened(ticket: str) -> int:
    """Return how many hints of a ticket were opened, in this session or an earlier one; 0 for an unknown ticket."""
    kept = record.kept("hints", ticket) if ticket else None
    return max(int((kept or {}).get("opened", 0)), _UNWRITTEN.get(ticket, 0))


STEPS = ("a nudge", "narrower", "the place")


class Hints:
    """Hints for one case. `texts`: three hints; `costs`: points for opening each; `ticket`: the case.

    An opened hint of a ticket stays open in every kernel.
    """

    def __init__(self, texts: Sequence[str], *, ticket: str = "", costs: Sequence[float] = (1, 2, 3)) -> None:
        if len(texts) != len(costs):
            raise UserError(f"There are {len(texts)} hints but {len(costs)} costs. Give one cost per hint.")
        self._texts, self.costs, self.ticket = tuple(texts), tuple(costs), ticket
        self.opened = min(opened(ticket), len(texts))

    @property
    def cost(self) -> float:
        """Return the points spent so far."""
        return sum(self.costs[: self.opened])

    def next(self) -> str:
        """Open the next hint and return it."""
        if self.opened == len(self._texts):
            return "There are no more hints."
        self.opened += 1
        if self.ticket:
            if not record.keep("hints", self.ticket, {"opened": self.opened, "cost": self.cost}):
                _UNWRITTEN[self.ticket] = self.opened
        return self._texts[self.opened - 1]

    def show(self) -> "Hints":
        """Show a button that opens the next hint, or a line of text without a front end."""
        if headless():
            print(
                f"{len(self._texts)} hints; hints.next() opens one. They cost {', '.join(map(str, self.costs))} points."
            )
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
        self.next()
        self._draw()

    def _draw(self) -> None:
        from bugzoo.lab import page

        left = self.opened < len(self._texts)
        name = STEPS[self.opened] if left and len(self._texts) == len(STEPS) else "the next one"
        price = f"costs {self.costs[self.opened]:g}" if left else ""
        self.button.description = f"Hint {self.opened + 1}: {name} ({price})" if left else "No more hints"
        self.button.disabled = not left
        read = self._texts[: self.opened]
        rows = "".join(f"<li>{html.escape(text)}</li>" for text in read)
        spent = f'<div class="bugzoo-status"><ol>{rows}</ol>Spent on hints: {self.cost:g}</div>'
        self.shown.value = spent if read else ""
        page.keep(self._handle, "\n".join([f"Hints opened: {len(read)} of {len(self._texts)}.", *read]))

    def __repr__(self) -> str:
        return f"<Hints {self.ticket}: {self.opened} of {len(self._texts)} opened, {self.cost:g} points>"
