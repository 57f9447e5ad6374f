"""The diagnosis: what is wrong, where, since which step, and which test would tell; what was looked at is on record."""

import contextlib
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from bugzoo import diagnostics, record
from bugzoo.diagnostics.causes import named, tidy, words
from bugzoo.errors import RENAMED, UserError, unknown
from bugzoo.lab.frontend import headless
from bugzoo.lab.hints import opened as opened_hints

LETTERS = "ABCDEFGH"
"""Of the tests that are offered."""


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

    def text(self) -> str:
        """In words, for people."""
        said = [f"cause: {self.cause or 'none'}"]
        said += [f"line {self.place}"] if self.place else []
        said += [f"first step {self.step}"] if self.step else []
        said += [f"test {self.test}"] if self.test else []
        said += [f"looked at: {', '.join(self.evidence)}"] if self.evidence else []
        return "; ".join(said)


def offered(said: Any, causes: Sequence[str]) -> str:
    """The word among `causes` for what somebody said, in these or in other words. Raises UserError with the list."""
    if not causes:
        return str(said)
    mine = next((cause for cause in causes if tidy(cause) == tidy(said)), None)
    if mine is not None or tuple(causes) == words():
        return mine or named(said)
    with contextlib.suppress(UserError):
        if (other := named(said)) in causes:
            return other
    listed = "\n".join(f"  {cause}" for cause in causes)
    raise UserError(f"{str(said)[:80]!r} is no cause that this form offers. It is one of\n{listed}")


class DiagnosisForm:
    """The form over a `Diagnosis`, which goes on with what was handed in for this ticket before.

    `causes`: what may be chosen (all that there are; free text where it is empty). `tests`: texts of the tests to choose
    from, lettered from A (free text where there are none). `source`: the program's text, or a function that gives it, for
    picking the line. What was looked at is read from the record; `ask_evidence` asks for it instead, where nothing notes
    it. Hints are counted of `hints`, and of any that carry the same ticket: they cost the same whether the form was given
    them or not, and whether they were shown before it or after it.
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
        """Fill in by hand what is given, stop the clock and return the record.

        A cause may be named in other words, such as "double softmax"; raises UserError for one that nobody knows.
        Without `evidence` it is what was looked at, as far as that is on record.
        """
        if fields.get("cause"):
            fields["cause"] = offered(fields["cause"], self.causes)
        ticket = self.diagnosis.ticket
        if "evidence" not in fields and (looked := self.looked()):
            fields["evidence"] = looked
        for old in {*fields.get("evidence", ())} & {*RENAMED}:
            raise unknown("instrument", old, self.instruments(), "bugzoo list instruments")
        for name, value in fields.items():
            setattr(self.diagnosis, name, value)
        self.diagnosis.hints = max(self.hints.opened if self.hints else 0, opened_hints(ticket), self.diagnosis.hints)
        self.diagnosis.seconds = round(time.monotonic() - self._begin, 1)
        self.handed_in = True
        if ticket:
            record.note(ticket, "diagnosis", self.diagnosis.record())
        return self.diagnosis

    def looked(self) -> list[str]:
        """The instruments that were looked at for this ticket, as they are on record."""
        return record.looked(self.diagnosis.ticket) if self.diagnosis.ticket else []

    @property
    def noted(self) -> bool:
        """Whether a notebook notes what is looked at for this ticket, and since when it was worked on."""
        return bool(self.diagnosis.ticket and record.notes(self.diagnosis.ticket, "started"))

    def show(self) -> "DiagnosisForm":
        """The form, or one line of text where nobody looks."""
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
        """Its program, for the line picker; "" where there is none, or not all of its cells were run."""
        try:
            return str(self.source() if callable(self.source) else self.source or "")
        except UserError:
            return ""

    def instruments(self) -> list[str]:
        """What can have been looked at."""
        return diagnostics.names()

    def __repr__(self) -> str:
        return f"<DiagnosisForm {self.diagnosis.ticket}: {'handed in' if self.handed_in else 'open'}>"
