"""The diagnosis: cause, line, first step and discriminating test; the views used come from the record."""

import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from bugzoo import record, views
from bugzoo.diagnostics.causes import NOTHING, named, tidy, words
from bugzoo.errors import UserError
from bugzoo.lab import observer
from bugzoo.lab.frontend import headless
from bugzoo.lab.hints import opened as opened_hints

LETTERS = "ABCDEFGH"
"""Letters of the offered tests."""


@dataclass
class Diagnosis:
    """A record for grading. `evidence` holds views in the order in which they were used."""

    ticket: str = ""
    cause: str = ""
    sure: int | None = None
    """Certainty of the cause, 0 to 100."""
    place: int | None = None
    """Line of the program that has to change, from 1."""
    step: int | None = None
    """First optimizer step at which it shows, from 1."""
    evidence: list[str] = field(default_factory=list)
    test: str = ""
    """The discriminating test against the look-alikes, tried or proposed."""
    raised: int | None = None
    """Line of the program that raised the error, from 1."""
    hints: int = 0
    seconds: float = 0.0

    def record(self) -> dict[str, Any]:
        """Return the record as JSON."""
        return asdict(self)

    def text(self) -> str:
        """Return the record as text."""
        parts = [f"cause: {self.cause or 'none'}" + (f" ({self.sure} % sure)" if self.sure is not None else "")]
        parts += [f"line {self.place}"] if self.place else []
        parts += [f"raised by line {self.raised}"] if self.raised else []
        parts += [f"first step {self.step}"] if self.step else []
        parts += [f"test {self.test}"] if self.test else []
        parts += [f"looked at: {', '.join(self.evidence)}"] if self.evidence else []
        return "; ".join(parts)


def offered(said: Any, causes: Sequence[str]) -> str:
    """Return the entry of `causes` that matches `said`, also in other words. Raises UserError with the list."""
    if not causes:
        return str(said)
    choice = next((cause for cause in causes if tidy(cause) == tidy(said)), None)
    if choice is not None or tuple(causes) == words():
        return choice or named(said)
    with contextlib.suppress(UserError):
        if (other := named(said)) in causes:
            return other
    listed = "\n".join(f"  {cause}" for cause in causes)
    raise UserError(f"{str(said)[:80]!r} is not a cause in this form. Choose one of\n{listed}")


class DiagnosisForm:
    """The form for a `Diagnosis`; it starts from what was handed in for this ticket before.

    With `pairs` it has two parts. `show()` asks for the cause, the certainty, and which test tells that cause from its
    look-alike: `pairs` is cause -> (the look-alike's cause, texts of the tests). `line()` asks for line and step, and
    hands in. Before that, changes of the first part are kept; with the line the diagnosis is complete.

    `causes`: the choices (default: all; free text if empty). `tests`: texts of the tests to choose from, lettered from A
    (free text if empty). `source`: the program's text, or a function that returns it, for picking the line. The
    views used are read from the record; `ask_evidence` asks for them instead, when nothing records them. Hints
    are counted from `hints` and from any hints with the same ticket. Their cost does not depend on whether the form was
    given them, or on the order in which they were shown. `ask_raised`: asks for the line that raised the error, too, and
    for no view.

    `tickets`: those of all forms of one diagnosis, if it has several findings; this form's own is among them.
    """

    def __init__(
        self,
        ticket: str = "",
        *,
        tickets: Sequence[str] = (),
        causes: Sequence[str] | None = None,
        tests: Sequence[str] = (),
        pairs: Mapping[str, tuple[str, Sequence[str]]] | None = None,
        source: Any = None,
        hints: Any = None,
        ask_evidence: bool = False,
        ask_raised: bool = False,
    ) -> None:
        self.causes, self.tests, self.hints = words() if causes is None else tuple(causes), tuple(tests), hints
        self.tickets = tuple(tickets) or (ticket,)
        self.source, self.ask_evidence, self.pairs = source, ask_evidence, dict(pairs or {})
        self.ask_raised = ask_raised
        before = record.diagnosis(ticket) if ticket else None
        names = {entry.name for entry in fields(Diagnosis)}
        self.diagnosis = Diagnosis()
        for name, value in {**(before or {}), "ticket": ticket}.items():
            if name in names:
                setattr(self.diagnosis, name, value)
        self.handed_in = before is not None
        self.face: Any = None
        self.last: Any = None
        """The face of the second part."""
        if self.pairs and (guesses := record.notes(ticket, "hypothesis")):
            self._take(guesses[-1])
        self._begin = time.monotonic() - self.diagnosis.seconds

    @property
    def finding(self) -> int:
        """Which finding of several it asks for, from 1; 0 for the only one."""
        return self.tickets.index(self.diagnosis.ticket) + 1 if len(self.tickets) > 1 else 0

    @property
    def heading(self) -> str:
        """What stands before its first question."""
        return f"Finding {self.finding}. " if self.finding else ""

    @property
    def variable(self) -> str:
        """The form's name in a notebook."""
        return ("form", "first", "second")[self.finding]

    def counted(self) -> list[dict[str, Any]] | None:
        """Return what is graded: what all forms held when all were complete for the first time; None before that."""
        return record.first_diagnoses(self.tickets)

    def asked(self, cause: str) -> tuple[str, tuple[str, ...]]:
        """Return (the question, texts) of the test that is asked for after a cause; ("", ()) if none is."""
        if not self.pairs:
            return "Which test tells this cause from the one that looks most like it?", self.tests
        other, texts = self.pairs.get(cause, ("", ()))
        return (f"Which test tells “{cause}” from “{other}”?", tuple(texts)) if texts else ("", ())

    def keep(self, cause: str, sure: int, test: str = "") -> Diagnosis:
        """Keep the first part: a cause, the certainty from 0 to 100, and the test. Raises UserError for other values."""
        cause = offered(cause, self.causes)
        if isinstance(sure, bool) or not isinstance(sure, int) or not 0 <= sure <= 100:
            raise UserError(f"`sure` must be a whole number from 0 (a guess) to 100 (certain), not {sure!r}.")
        guess = {"cause": cause, "sure": sure, "test": test, "after": self.looked()}
        record.note(self.diagnosis.ticket, "hypothesis", guess)
        self._take(guess)
        return self.diagnosis

    def _take(self, kept: Mapping[str, Any]) -> None:
        for name in ("cause", "sure", "test"):
            setattr(self.diagnosis, name, kept.get(name) or getattr(Diagnosis(), name))

    def lacks(self) -> list[str]:
        """Return what a complete diagnosis still needs; nothing for a form without parts."""
        if not self.pairs:
            return []
        diagnosis = self.diagnosis
        lacking = ["a cause"] if not diagnosis.cause else []
        lacking += ["a test"] if self.asked(diagnosis.cause)[1] and not diagnosis.test else []
        if diagnosis.cause == NOTHING:
            return lacking
        lacking += ["a line"] if diagnosis.place is None else []
        return lacking + (["the line that raised"] if self.ask_raised and diagnosis.raised is None else [])

    def hand_in(self, **fields: Any) -> Diagnosis:
        """Fill in the given fields, stop the clock and return the record.

        A cause may be named in other words, such as "double softmax". Raises UserError for an unknown cause. Without
        `evidence`, the views on record are used. Raises UserError for a line where nothing is wrong.
        """
        if fields.get("cause"):
            fields["cause"] = offered(fields["cause"], self.causes)
        ticket, after = self.diagnosis.ticket, {**asdict(self.diagnosis), **fields}
        if after["cause"] == NOTHING and after["place"] is not None:
            raise UserError(
                f"“{NOTHING}” goes with no line, not with line {after['place']}. Choose no line, or another cause."
            )
        if "evidence" not in fields and (looked := self.looked()):
            fields["evidence"] = looked
        for name, value in fields.items():
            setattr(self.diagnosis, name, value)
        self.diagnosis.hints = max(
            self.hints.opened if self.hints else 0, opened_hints(self._case), self.diagnosis.hints
        )
        self.diagnosis.seconds = round(time.monotonic() - self._begin, 1)
        self.handed_in = True
        if ticket:
            record.note(ticket, "diagnosis", {**self.diagnosis.record(), "complete": not self.lacks()})
        return self.diagnosis

    def looked(self) -> list[str]:
        """Return the views on record for this ticket."""
        return record.looked(self.diagnosis.ticket) if self.diagnosis.ticket else []

    @property
    def noted(self) -> bool:
        """Whether a notebook records the views used for this ticket, and since when."""
        return bool(self._case and record.notes(self._case, "started"))

    @property
    def _case(self) -> str:
        """The ticket of the exercise, without the number of a form."""
        return self.diagnosis.ticket.partition("/")[0]

    def show(self) -> "DiagnosisForm":
        """Show the form, or one line of text without a front end."""
        if headless():
            form = self.variable
            print(
                f"{self.heading}Diagnosis: {form}.hand_in(cause=..., place=<line>, step=<step>, test=...); {form}.causes are "
                "the causes."
            )
            if self.pairs:
                print(f"{form}.asked(cause) is the question about the test, with its answers.")
            for letter, text in zip(LETTERS, self.tests, strict=False):
                print(f"  test {letter}: {text}")
            return self
        from bugzoo.lab.diagnosis_face import First, Last

        self.face = First(self) if self.pairs else Last(self)
        return self

    def line(self) -> None:
        """Show the second part, once a guess was kept; or one line of text without a front end."""
        if headless():
            what = "the finding" if self.finding else "the diagnosis"
            also = ", raised=<line that raised>" if self.ask_raised else ""
            call = f"{self.variable}.hand_in(place=<line>, step=<step>{also})"
            print(f"{self.heading}Line and step: {call} completes {what}.")
            return
        if self.pairs and not (self.handed_in or record.notes(self.diagnosis.ticket, "hypothesis")):
            print(
                f"{self.heading}First keep a guess in the form above. Then this cell lists the program: run it again."
            )
            return
        observer.opened(self._case, "form.line()")
        from bugzoo.lab.diagnosis_face import Last

        self.last = Last(self)

    def text(self) -> str:
        """Return the program for the line picker; "" without one, or before all of its cells were run."""
        try:
            return str(self.source() if callable(self.source) else self.source or "")
        except UserError:
            return ""

    def views(self) -> list[str]:
        """Return the views that may have been used."""
        return views.names()

    def __repr__(self) -> str:
        return f"<DiagnosisForm {self.diagnosis.ticket}: {'handed in' if self.handed_in else 'open'}>"
