"""A finding's form as widgets: the cause, the line, and two buttons, for mouse and keyboard."""

import time
from typing import TYPE_CHECKING, Any

import ipywidgets as w

from bugzoo.lab import page
from bugzoo.lab.diagnosis_face import choice, line_picker

if TYPE_CHECKING:
    from bugzoo.instructor.finding_form import FindingForm

SAVE = "Save the notebook (Ctrl+S)."


class Face:
    """The widgets of a `FindingForm`, shown on creation."""

    def __init__(self, form: "FindingForm") -> None:
        self.form, given = form, form.diagnosis
        self.cause = choice([(cause, cause) for cause in form.causes], given.cause)
        self.place = line_picker(form.text(), given.place)
        self.button = w.Button(description="Hand in", button_style="primary", icon="check")
        self.back = w.Button(description="Withdraw", icon="times", tooltip="Empty this form again")
        self.carried = page.Carried(self.button, cause=self.cause, place=self.place)
        self.told = w.HTML()
        self.button.on_click(self._pressed)
        self.back.on_click(self._withdrawn)
        self.box = page.form([
            page.ask(f"Finding {form.number}. What is wrong?"), self.cause,
            page.ask("Which line of the program, as you got it, has to change?"), self.place,
            w.HBox([self.button, self.back], layout={"margin": "10px 0 0 0"}), self.carried.box, self.told,
        ])  # fmt: skip
        self.handle = page.put(self.box)
        if form.handed_in:
            self.told.value = page.say(f"Handed in: {form.said()}. Hand in again to replace it.")
        self.keep()

    def keep(self) -> None:
        """Set what stays in the saved notebook: the text, and the record that is graded."""
        form = self.form
        told = f"Handed in: {form.said()}." if form.handed_in else f"Finding {form.number}: nothing handed in."
        page.keep(self.handle, f"{told} Run this cell for the form.", form.output())

    def _pressed(self, _: Any) -> None:
        chosen = self.carried.values()
        cause, given = chosen["cause"], chosen["place"]
        line = given.strip() if isinstance(given, str) else given
        if isinstance(line, str) and line and not (line.isdigit() and int(line)):
            self._nothing(f"The line must be a whole number of at least 1, not {line[:40]!r}.")
        elif lacking := [*([] if cause else ["a cause"]), *([] if line else ["a line"])]:
            self._nothing(f"Choose {' and '.join(lacking)} first.")
        else:
            self.form.press(cause, int(line))
            self.told.value = page.say("\n".join([f"Handed in at {_now()}. {SAVE}", *self._remarks()]))

    def _nothing(self, why: str) -> None:
        before = " What you handed in before stays." if self.form.handed_in else ""
        self.told.value = page.say(f"Nothing was handed in. {why}{before}")

    def _withdrawn(self, _: Any) -> None:
        self.form.empty()
        self.cause.value = None
        self.place.set_trait("value", "" if isinstance(self.place, w.Text) else None)
        self.told.value = page.say("\n".join([f"Withdrawn at {_now()}. {SAVE}", *self._typed()]))

    def _remarks(self) -> list[str]:
        """Return what to know beside the time: no view so far, or a typed call."""
        found = self.form.diagnosis
        seen = "" if found.evidence else "You have not opened a view yet. Open one that shows it, then hand in again."
        return [*filter(None, [seen]), *self._typed()]

    def _typed(self) -> list[str]:
        name = self.form.name
        said = f"A cell also calls {name}.hand_in(...), and a typed call counts before the form. To use the form, delete it."
        return [said] if self.form.typed else []


def _now() -> str:
    return time.strftime("%H:%M")
