"""The first part of a diagnosis form with `pairs` as widgets: cause, certainty, and the test that belongs to the cause."""

from typing import TYPE_CHECKING, Any

import ipywidgets as w

from bugzoo import record
from bugzoo.lab import page
from bugzoo.lab.diagnosis import LETTERS
from bugzoo.lab.diagnosis_face import choice

if TYPE_CHECKING:
    from bugzoo.lab.diagnosis import DiagnosisForm


class First:
    """The widgets, shown on creation."""

    def __init__(self, form: "DiagnosisForm") -> None:
        self.form, given = form, form.diagnosis
        self.cause = choice([(cause, cause) for cause in form.causes], given.cause)
        self.sure = w.IntSlider(value=50 if given.sure is None else given.sure, min=0, max=100, step=5)
        self.sure.layout.width = "360px"
        self.question, self.test = page.ask(""), choice([("", "")], "")
        self.button = w.Button(description="Keep", icon="pencil", layout={"margin": "10px 0 0 0"})
        self.carried = page.Carried(self.button, cause=self.cause, sure=self.sure, test=self.test)
        self.told = w.HTML()
        self.cause.observe(lambda change: self._ask(change["new"] or "", ""), "value")
        self.button.on_click(self._pressed)
        self._ask(given.cause, given.test)
        self.box = page.form([
            page.ask(f"{form.heading}What is wrong?"), self.cause,
            page.ask("How sure are you, from 0 (a guess) to 100 (certain)?"), self.sure,
            self.question, self.test, self.button, self.carried.box, self.told,
        ])  # fmt: skip
        self.handle = page.put(self.box)
        self._tell()

    def _ask(self, cause: str, test: str) -> None:
        """Ask for the test that belongs to a cause; the last answer goes with the last question."""
        question, texts = self.form.asked(cause)
        options = [(f"{LETTERS[place]}) {text}", LETTERS[place]) for place, text in enumerate(texts)]
        self.test.options = options
        self.test.value = test if test in [letter for _, letter in options] else None
        self.question.value = page.ask(question).value if options else ""
        self.test.layout.display = None if options else "none"

    def _pressed(self, _: Any) -> None:
        chosen = self.carried.values()
        if not chosen["cause"]:
            self.told.value = page.say("Nothing was kept. Choose a cause first; an unlikely one is fine.")
            return
        self.form.keep(chosen["cause"], int(chosen["sure"]), chosen["test"] or "")
        self._tell()

    def _tell(self) -> None:
        found = self.form.diagnosis
        guesses = [
            f"{one['sure']} %  {one['cause']}, {'after ' + ', '.join(one['after']) if one['after'] else 'before any view'}"
            for one in record.notes(found.ticket, "hypothesis")
        ]
        text = "\n".join(["Kept so far:", *guesses]) if guesses else ""
        if guesses and self.form.asked(found.cause)[1] and not found.test:
            text += "\nThe question about the test is still open."
        if guesses and self.form.counted():
            text += "\nYour diagnosis is handed in. What you change now is practice."
        self.told.value = page.say(text)
        page.keep(self.handle, f"{self.form.heading}{text or 'Nothing kept yet.'}\nRun this cell for the form.")
