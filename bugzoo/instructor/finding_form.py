"""One of the three forms of an assignment: it asks for what is graded, and its output holds what was handed in."""

from collections.abc import Sequence
from typing import Any

from bugzoo import record
from bugzoo.diagnostics.causes import NOTHING, words
from bugzoo.grading.parse_answers import number
from bugzoo.instructor import form_records
from bugzoo.instructor.form_records import FORMS, FormRecord
from bugzoo.lab import Diagnosis, DiagnosisForm
from bugzoo.lab.frontend import headless

_GRADED = ("cause", "place", "evidence")


class FindingForm(DiagnosisForm):
    """The form for one finding: its cause and its line; the views opened come from the record.

    Each `hand_in`, by the button or by a call, replaces the one before. The output of every cell that shows the form
    holds what is handed in, so a saved notebook is enough for grading. `ticket` is the assignment's, `number` 1 to 3,
    `source` the program as handed out, or a function that returns it.
    """

    def __init__(self, ticket: str, number: int, source: Any = None) -> None:
        causes = tuple(word for word in words() if word != NOTHING)  # a form that is not needed stays empty
        super().__init__(f"{ticket}/{number}", causes=causes, source=source)
        self.number, self.of = number, ticket
        self.faces: list[Any] = []
        """What is on the page: one for each cell that shows this form."""
        self.typed: dict[str, Any] = {}
        """The fields given by calls in this kernel: when graded, they count before the button's."""
        before = record.diagnosis(self.diagnosis.ticket)
        self.at = float(before["at"]) if before else 0.0
        self.handed_in = bool(self.diagnosis.cause)

    @property
    def name(self) -> str:
        """The form's name in the notebook: first, second or third."""
        return FORMS[self.number - 1]

    def hand_in(self, **fields: Any) -> Diagnosis:
        """Hand in by code: `cause`, `place` (a line) and `evidence` (views; by default those on record).

        A cause may be named in other words, such as "double softmax". Raises UserError for an unknown cause or view.
        """
        if "place" in fields:
            fields["place"] = number(fields["place"])
        diagnosis = super().hand_in(**fields)
        self.typed |= {name: getattr(diagnosis, name) for name in _GRADED if name in fields}
        self._handed_in()
        if not self.faces:
            self._print()
        return diagnosis

    def press(self, cause: str, place: int) -> Diagnosis:
        """Hand in by the button. Raises UserError for an unknown cause."""
        diagnosis = super().hand_in(cause=cause, place=place)
        self._handed_in()
        return diagnosis

    def withdraw(self) -> None:
        """Take the finding back by code, whatever the button hands in."""
        self.typed = {"cause": "", "place": None, "evidence": []}
        self.empty()

    def empty(self) -> None:
        """Take the finding back by the button: the form is empty again, and the saved notebook says so."""
        super().hand_in(cause="", place=None, evidence=[])
        self._handed_in()

    def _handed_in(self) -> None:
        self.at = float((record.diagnosis(self.diagnosis.ticket) or {}).get("at", 0.0))
        self.handed_in = bool(self.diagnosis.cause)
        for face in self.faces:
            face.keep()

    def graded(self) -> dict[str, Any]:
        """Return what a grader reads of this form: the button's fields, and those of a typed call before them."""
        return {**self.diagnosis.record(), **self.typed}

    def output(self) -> dict[str, Any]:
        """Return what the cell's output holds beside its text; empty before the first hand-in."""
        diagnosis = self.diagnosis
        if not self.at:
            return {}
        entry = FormRecord(self.number, self.of, self.at, diagnosis.cause, diagnosis.place, tuple(diagnosis.evidence))
        return form_records.output(entry)

    def said(self) -> str:
        """Return what is handed in, as one line."""
        return f"finding {self.number}: {sentence(self.graded())}"

    def show(self) -> "FindingForm":
        """Show the form; without a front end, one line of text that keeps what was handed in."""
        if headless():
            self._print()
            return self
        from bugzoo.instructor.finding_face import FindingFace

        self.face = FindingFace(self)
        self.faces.append(self.face)
        return self

    def _print(self) -> None:
        """Print what is handed in. The output holds the record too, so that it is saved without widgets."""
        from IPython.display import display

        how = f"{self.name}.hand_in(cause=..., place=<line>); {self.name}.causes are the causes."
        plain = f"Handed in: {self.said()}." if self.handed_in else f"Finding {self.number}: {how}"
        display({"text/plain": plain, **self.output()}, raw=True)

    def __repr__(self) -> str:
        return f"<FindingForm {self.diagnosis.ticket}: {'handed in' if self.handed_in else 'open'}>"


def sentence(given: dict[str, Any]) -> str:
    """Return a finding in words: cause, line and views, or "nothing"."""
    if not given.get("cause"):
        return "nothing"
    views = given.get("evidence") or []
    view = f"view{'' if len(views) == 1 else 's'} {', '.join(views)}" if views else "no view"
    line = f"line {given['place']}" if given.get("place") else "no line"
    return f"{given['cause']}, {line}, {view}"


def standing(forms: Sequence[FindingForm]) -> str:
    """Return exactly what is handed in, form by form, and what is missing."""
    answers = [(form, form.graded()) for form in forms]
    lines = ["Handed in:", *(f"  {form.said()}" for form in forms)]
    if not any(answer["cause"] for _, answer in answers):
        lines.append("Choose a cause and a line in the first form, press Hand in, and save the notebook.")
        return "\n".join(lines)
    lines.append("Save the notebook (Ctrl+S): that is what is graded.")
    for form, answer in answers:
        if answer["cause"] and not answer["place"]:
            lines.append(f"Finding {form.number} has no line. Choose the line to change and hand in again.")
        if answer["cause"] and not answer["evidence"]:
            advice = 'Open one that shows it, such as program.look("gradients"), and hand in again.'
            lines.append(f"Finding {form.number} has no view. {advice}")
    return "\n".join(lines)
