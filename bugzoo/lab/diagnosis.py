"""The diagnosis: cause, line, first step and discriminating test; the views used come from the record."""

import contextlib
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from bugzoo import diagnostics, record, views
from bugzoo.diagnostics.causes import named, tidy, words
from bugzoo.errors import RENAMED, UserError, unknown
from bugzoo.lab.frontend import headless
from bugzoo.lab.hints import opened as opened_hints
from bugzoo.views.table import views_of

LETTERS = "ABCDEFGH"
"""Letters of the offered tests."""


@dataclass
class Diagnosis:
    """A record for grading. `evidence` holds views in the order in which they were used."""

    ticket: str = ""
    cause: str = ""
    place: int | None = None
    """Line of the program, from 1."""
    step: int | None = None
    """First optimizer step at which it shows, from 1."""
    evidence: list[str] = field(default_factory=list)
    test: str = ""
    """The discriminating test against the look-alikes, tried or proposed."""
    hints: int = 0
    seconds: float = 0.0

    @property
    def complete(self) -> bool:
        """Return whether every graded field was filled in."""
        return bool(self.cause and self.evidence and self.test) and (self.place is not None or "nothing" in self.cause)

    def record(self) -> dict[str, Any]:
        """Return the record as JSON."""
        return asdict(self)

    def text(self) -> str:
        """Return the record as text."""
        said = [f"cause: {self.cause or 'none'}"]
        said += [f"line {self.place}"] if self.place else []
        said += [f"first step {self.step}"] if self.step else []
        said += [f"test {self.test}"] if self.test else []
        said += [f"looked at: {', '.join(self.evidence)}"] if self.evidence else []
        return "; ".join(said)


def offered(said: Any, causes: Sequence[str]) -> str:
    """Return the entry of `causes` that matches `said`, also in other words. Raises UserError with the list."""
    if not causes:
        return str(said)
    mine = next((cause for cause in causes if tidy(cause) == tidy(said)), None)
    if mine is not None or tuple(causes) == words():
        return mine or named(said)
    with contextlib.suppress(UserError):
        if (other := named(said)) in causes:
            return other
    listed = "\n".join(f"  {cause}" for cause in causes)
    raise UserError(f"{str(said)[:80]!r} is not a cause in this form. Choose one of\n{listed}")


class DiagnosisForm:
    """The form for a `Diagnosis`; it starts from what was handed in for this ticket before.

    `causes`: the choices (default: all; free text if empty). `tests`: texts of the tests to choose from, lettered from A
    (free text if empty). `source`: the program's text, or a function that returns it, for picking the line. The
    views used are read from the record; `ask_evidence` asks for them instead, when nothing records them. Hints
    are counted from `hints` and from any hints with the same ticket. Their cost does not depend on whether the form was
    given them, or on the order in which they were shown.
    """

    def __init__(
        self,
        ticket: str = "",
        *,
        causes: Sequence[str] | None = None,
        tests: Sequence[str] = (),
        source: Any = None,
        hints: Any = None,
        ask_evidence: bool = False,
    ) -> None:
        self.causes, self.tests, self.hints = words() if causes is None else tuple(causes), tuple(tests), hints
        self.source, self.ask_evidence = source, ask_evidence
        before = record.diagnosis(ticket) if ticket else None
        known = {one.name for one in fields(Diagnosis)}
        self.diagnosis = Diagnosis()
        for name, value in {**(before or {}), "ticket": ticket}.items():
            if name in known:
                setattr(self.diagnosis, name, value)
        self.handed_in = before is not None
        self.face: Any = None
        self._begin = time.monotonic() - self.diagnosis.seconds

    def hand_in(self, **fields: Any) -> Diagnosis:
        """Fill in the given fields, stop the clock and return the record.

        A cause may be named in other words, such as "double softmax". Raises UserError for an unknown cause. Without
        `evidence`, the views on record are used.
        """
        if fields.get("cause"):
            fields["cause"] = offered(fields["cause"], self.causes)
        ticket = self.diagnosis.ticket
        if "evidence" not in fields and (looked := self.looked()):
            fields["evidence"] = looked
        for old in {*fields.get("evidence", ())} & {*RENAMED}:
            raise unknown("instrument", old, diagnostics.names(), "program.views()")
        for name, value in fields.items():
            setattr(self.diagnosis, name, value)
        self.diagnosis.hints = max(self.hints.opened if self.hints else 0, opened_hints(ticket), self.diagnosis.hints)
        self.diagnosis.seconds = round(time.monotonic() - self._begin, 1)
        self.handed_in = True
        if ticket:
            record.note(ticket, "diagnosis", self.diagnosis.record())
        return self.diagnosis

    def looked(self) -> list[str]:
        """Return the views on record for this ticket, an instrument of an older record as its view."""
        names = record.looked(self.diagnosis.ticket) if self.diagnosis.ticket else []
        return list(dict.fromkeys(view for name in names for view in (views_of([name]) or [name])))

    @property
    def noted(self) -> bool:
        """Whether a notebook records the views used for this ticket, and since when."""
        return bool(self.diagnosis.ticket and record.notes(self.diagnosis.ticket, "started"))

    def show(self) -> "DiagnosisForm":
        """Show the form, or one line of text without a front end."""
        if headless():
            print(
                "Diagnosis: form.hand_in(cause=..., place=<line>, step=<step>, test=...); form.causes are the causes."
            )
            for letter, text in zip(LETTERS, self.tests, strict=False):
                print(f"  test {letter}: {text}")
            return self
        from bugzoo.lab.diagnosis_face import Face

        self.face = Face(self)
        return self

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
