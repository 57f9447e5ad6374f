"""The diagnosis form: what is wrong, where, since which step, what was looked at, and which test would tell."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from bugzoo import diagnostics, record
from bugzoo.diagnostics.causes import named, tidy, words
from bugzoo.errors import UserError
from bugzoo.lab.frontend import headless
from bugzoo.lab.hints import opened as opened_hints


@dataclass
class Diagnosis:
    """A record that grading can judge. `evidence` holds instruments in the order in which they were looked at."""

    ticket: str = ""
    cause: str = ""
    place: int | None = None
    """Line of the program, from 1."""
    step: int | None = None
    """First optimiser step at which it shows, from 1."""
    evidence: list[str] = field(default_factory=list)
    test: str = ""
    """The discriminating test: what was tried or would be tried against the look-alikes."""
    hints: int = 0
    seconds: float = 0.0

    @property
    def complete(self) -> bool:
        """Whether everything that can be judged was filled in."""
        return bool(self.cause and self.evidence and self.test) and (self.place is not None or "nothing" in self.cause)

    def record(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


class DiagnosisForm:
    """The form over a `Diagnosis`. `causes`: what may be chosen (all that there are; free text where it is empty).

    Hints are counted of `hints`, and of any that carry the same ticket: they cost the same whether the form was given
    them or not, and whether they were shown before it or after it.
    """

    def __init__(self, ticket: str = "", *, causes: Sequence[str] | None = None, hints: Any = None) -> None:
        self.causes, self.hints = words() if causes is None else tuple(causes), hints
        self.diagnosis = Diagnosis(ticket)
        self.handed_in = False
        self._begin = time.monotonic()

    def hand_in(self, **fields: Any) -> Diagnosis:
        """Fill in by hand what is given, stop the clock and return the record.

        A cause may be named in other words, such as "double softmax"; raises UserError for one that nobody knows.
        """
        if fields.get("cause"):
            fields["cause"] = self._named(fields["cause"])
        for name, value in fields.items():
            setattr(self.diagnosis, name, value)
        self.diagnosis.hints = max(self.hints.opened if self.hints else 0, opened_hints(self.diagnosis.ticket))
        self.diagnosis.seconds = round(time.monotonic() - self._begin, 1)
        self.handed_in = True
        if self.diagnosis.ticket:
            record.note(self.diagnosis.ticket, "diagnosis", self.diagnosis.record())
        return self.diagnosis

    def _named(self, said: Any) -> str:
        """The form's own words for a cause. Raises UserError where it has none, and says which there are."""
        if not self.causes:
            return str(said)
        mine = next((cause for cause in self.causes if tidy(cause) == tidy(said)), None)
        if mine is None and self.causes == words():
            return named(said)
        if mine is None:
            listed = "\n".join(f"  {cause}" for cause in self.causes)
            raise UserError(f"{str(said)[:80]!r} is no cause that this form offers. It is one of\n{listed}")
        return mine

    def show(self) -> "DiagnosisForm":
        """The form, or one line of text where nobody looks."""
        if headless():
            print("Diagnosis: form.hand_in(cause=..., place=<line>, step=<step>, evidence=[...], test=...)")
            return self
        import ipywidgets as w
        from IPython.display import display

        wide, style = {"width": "620px"}, {"description_width": "150px"}
        options = {"options": [("choose one", ""), *((cause, cause) for cause in self.causes)], "value": ""}
        self.cause = w.Dropdown(description="What is wrong", layout=wide, style=style, **options)
        self.place = w.Text(description="Line of the program", layout=wide, style=style, placeholder="a number")
        self.step = w.Text(
            description="First step", layout=wide, style=style, placeholder="a number, where it sets in at one"
        )
        names = diagnostics.names()
        self.evidence = w.TagsInput(
            allowed_tags=names, allow_duplicates=False, layout=wide, placeholder="a name, then Enter"
        )
        self.test = w.Textarea(
            description="Test that tells", layout=wide, style=style,
            placeholder="Where tests are listed above: the letter of one. Else in words: which test tells this cause from "
            "the one that looks most like it?",
        )  # fmt: skip
        self.button, self.told = w.Button(description="Hand in", button_style="primary", icon="check"), w.HTML()
        self.button.on_click(self._pressed)
        seen = w.HTML(
            "<style>.jupyter-widget-tagsinput input { min-width: 200px; }</style>"
            '<div class="bugzoo-status">What you looked at, in this order; type the first letters, Enter takes it. '
            f"There are: {', '.join(names)}.</div>",
            layout=wide,
        )
        display(w.VBox([self.cause, self.place, self.step, seen, self.evidence, self.test, self.button, self.told]))
        return self

    def _pressed(self, _: Any) -> None:
        numbers, wrong = {}, []
        for name, control in (("place", self.place), ("step", self.step)):
            text = control.value.strip()
            if text and not text.isdigit():
                wrong.append(f"{control.description}: {text!r} is not a whole number.")
            numbers[name] = int(text) if text.isdigit() else None
        missing = [] if self.cause.value else ["what is wrong"]
        missing += [] if self.evidence.value else ["what you looked at"]
        if missing:
            wrong.append(f"Still open: {' and '.join(missing)}.")
        if wrong:
            self._say(" ".join(wrong))
            return
        self.hand_in(cause=self.cause.value, evidence=list(self.evidence.value), test=self.test.value, **numbers)
        hints = self.diagnosis.hints
        opened = f"{hints} hint" + ("" if hints == 1 else "s")
        self._say(f"{self._left_out()} You took {_clock(self.diagnosis.seconds)} and opened {opened}.")

    def _left_out(self) -> str:
        """Whether it was kept whole; a healthy program has no line that is wrong."""
        found = self.diagnosis
        empty = ["a line"] if found.place is None and "nothing" not in found.cause else []
        empty += [] if found.test else ["a test"]
        return f"Kept, without {' and '.join(empty)}; hand in again to add it." if empty else "Kept."

    def _say(self, text: str) -> None:
        import html

        self.told.value = f'<div class="bugzoo-status">{html.escape(text)}</div>'

    def __repr__(self) -> str:
        return f"<DiagnosisForm {self.diagnosis.ticket}: {'handed in' if self.handed_in else 'open'}>"


def _clock(seconds: float) -> str:
    """7 min 5 s, or 41 s."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
