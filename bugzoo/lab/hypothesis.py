"""A hypothesis with a confidence, noted before more evidence is used."""

from collections.abc import Sequence
from typing import Any

from bugzoo import record
from bugzoo.diagnostics.causes import words
from bugzoo.errors import UserError
from bugzoo.lab.diagnosis import offered
from bugzoo.lab.frontend import headless


class Hypothesis:
    """The learner's hypotheses for a ticket; each note is kept with the views used by then."""

    def __init__(self, ticket: str, causes: Sequence[str] | None = None) -> None:
        self.ticket, self.causes = ticket, words() if causes is None else tuple(causes)
        self.face: Any = None

    @property
    def notes(self) -> list[dict[str, Any]]:
        """Return {"cause", "sure" (0 to 100), "after" (views used by then), "at"}, oldest first."""
        return record.notes(self.ticket, "hypothesis")

    def note(self, cause: str, sure: int) -> list[dict[str, Any]]:
        """Note a cause and a confidence from 0 to 100; return all notes. Raises UserError for invalid values."""
        cause = offered(cause, self.causes)
        if isinstance(sure, bool) or not isinstance(sure, int) or not 0 <= sure <= 100:
            raise UserError(f"`sure` must be a whole number from 0 (a guess) to 100 (certain), not {sure!r}.")
        record.note(self.ticket, "hypothesis", {"cause": cause, "sure": sure, "after": record.looked(self.ticket)})
        return self.notes

    def text(self) -> str:
        """Return the notes as lines: `60 %  a learning rate, after loss_curve`."""
        return "\n".join(
            f"{one['sure']} %  {one['cause']}, {'after ' + ', '.join(one['after']) if one['after'] else 'before any view'}"
            for one in self.notes
        )

    def show(self) -> "Hypothesis":
        """Show radio buttons and a number, or one line of text without a front end."""
        if headless():
            print("Hypothesis: hypothesis.note(cause, sure) with sure from 0 to 100; hypothesis.causes are the causes.")
            return self
        import ipywidgets as w

        from bugzoo.lab import page

        self.cause = w.RadioButtons(options=self.causes, value=None, layout={"width": "100%"})
        self.sure = w.IntSlider(value=50, min=0, max=100, step=5, description="", layout={"width": "360px"})
        self.button = w.Button(description="Note it", icon="pencil")
        self.told = w.HTML()
        self.carried = page.Carried(self.button, cause=self.cause, sure=self.sure)
        self.button.on_click(self._pressed)
        rows = [page.ask("What do you think it is, before you look further?"), self.cause]
        rows += [page.ask("How sure are you, from 0 (a guess) to 100 (certain)?"), self.sure]
        rows += [self.button, self.carried.box, self.told]
        self.face = page.put(page.form(rows))
        self._tell()
        return self

    def _pressed(self, _: Any) -> None:
        from bugzoo.lab import page

        chosen = self.carried.values()
        cause, sure = chosen["cause"], chosen["sure"]
        if cause is None:
            self.told.value = page.say("Nothing was noted. Choose a cause first; an unlikely one is fine.")
            return
        self.note(cause, sure)
        self._tell()

    def _tell(self) -> None:
        from bugzoo.lab import page

        text = self.text()
        self.told.value = page.say(f"Noted so far:\n{text}" if text else "")
        shown = f"Hypotheses so far:\n{text}" if text else "No hypothesis noted yet."
        page.keep(self.face, f"{shown}\nRun this cell to note another.")

    def __repr__(self) -> str:
        return f"<Hypothesis {self.ticket}: {len(self.notes)} noted>"
