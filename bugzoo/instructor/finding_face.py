"""A finding's form as widgets: the cause, the line, and two buttons, for mouse and keyboard."""

import time
from typing import Any

import ipywidgets as w

from bugzoo.errors import UserError
from bugzoo.lab.form_face import Face, causes, line_picker, whole

SAVE = "Save the notebook (Ctrl+S)."


class FindingFace(Face):
    """The widgets of a `FindingForm`, shown on creation."""

    def questions(self) -> list[tuple[str, Any, Any]]:
        line = "Which line of the program, as you got it, has to change?"
        return [
            ("cause", f"Finding {self.form.number}. What is wrong?", causes(self.form)),
            ("place", line, line_picker(self.form.text(), self.form.diagnosis.place)),
        ]

    def buttons(self) -> list[Any]:
        self.back = w.Button(description="Withdraw", icon="times", tooltip="Empty this form again")
        self.back.on_click(lambda _: self.reply(self._withdrawn()))
        return [self.back]

    def press(self, values: dict[str, Any]) -> str:
        try:
            line = whole(values["place"], "The line")
        except UserError as error:
            return self._nothing(str(error))
        if lacking := [*([] if values["cause"] else ["a cause"]), *([] if line else ["a line"])]:
            return self._nothing(f"Choose {' and '.join(lacking)} first.")
        diagnosis = self.form.press(values["cause"], line)
        look = "You have not opened a view yet. Open one that shows it, then hand in again."
        return "\n".join([f"Handed in at {_now()}. {SAVE}", *([] if diagnosis.evidence else [look]), *self._typed()])

    def _nothing(self, why: str) -> str:
        before = " What you handed in before stays." if self.form.handed_in else ""
        return f"Nothing was handed in. {why}{before}"

    def _withdrawn(self) -> str:
        self.form.empty()
        self.controls["cause"].value, place = None, self.controls["place"]
        place.set_trait("value", "" if isinstance(place, w.Text) else None)
        return "\n".join([f"Withdrawn at {_now()}. {SAVE}", *self._typed()])

    def _typed(self) -> list[str]:
        """Return what to know if a cell calls the form too."""
        name = self.form.name
        counts = "and a typed call counts before the form. To use the form, delete it."
        return [f"A cell also calls {name}.hand_in(...), {counts}"] if self.form.typed else []

    def opening(self) -> str:
        return f"Handed in: {self.form.said()}. Hand in again to replace it." if self.form.handed_in else ""

    def standing(self) -> str:
        form = self.form
        return f"Handed in: {form.said()}." if form.handed_in else f"Finding {form.number}: nothing handed in."

    def output(self) -> dict[str, Any]:
        """Return the record that is graded."""
        return self.form.output()


def _now() -> str:
    return time.strftime("%H:%M")
