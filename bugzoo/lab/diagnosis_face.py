"""The diagnosis form as widgets: radio buttons, check boxes, a listing and numbers, for mouse and keyboard."""

import time
from typing import TYPE_CHECKING, Any

import ipywidgets as w

from bugzoo import record
from bugzoo.lab import page
from bugzoo.lab.diagnosis import LETTERS
from bugzoo.syntax import source_lines

if TYPE_CHECKING:
    from bugzoo.lab.diagnosis import DiagnosisForm

WIDE = {"width": "100%"}


class Face:
    """The widgets of a `DiagnosisForm`, shown on creation; of a form with `pairs` only line and step."""

    def __init__(self, form: "DiagnosisForm") -> None:
        self.form, given = form, form.diagnosis
        self.cause = choice([(cause, cause) for cause in form.causes], given.cause)
        question, texts = form.asked(given.cause)
        self.test = choice([(f"{LETTERS[i]}) {text}", LETTERS[i]) for i, text in enumerate(texts)], given.test)
        self.place = line_picker(form.text(), given.place)
        self.step = w.Text(
            value=str(given.step or ""), placeholder="1 where it is there from the start", layout={"width": "260px"}
        )
        self.step.add_class("bugzoo-number")
        self._ticked = list(given.evidence)
        self.seen = [w.Checkbox(value=name in given.evidence, description=name, indent=False) for name in form.views()]
        self.button = w.Button(
            description="Hand in", button_style="primary", icon="check", layout={"margin": "10px 0 0 0"}
        )
        first = {} if form.pairs else {"cause": self.cause, "test": self.test}
        self.carried = page.Carried(self.button, place=self.place, step=self.step, **first)
        self.told = w.HTML()
        self.button.on_click(self._pressed)
        looked = []
        if form.ask_evidence:
            for box in self.seen:
                box.observe(self._tick, "value")
            grid = w.GridBox(
                self.seen, layout={"grid_template_columns": "repeat(auto-fill, minmax(200px, 1fr))", **WIDE}
            )
            looked = [page.ask("What did you look at? In the order in which you tick."), grid]
        ends = ([page.ask("What is wrong?"), self.cause], [page.ask(question), self.test])
        before, after = ([], []) if form.pairs else ends
        self.box = page.form([
            *before,
            page.ask(f"{form.heading}Which line of the program has to change? None where nothing is wrong."), self.place,
            page.ask("At which step does it first show?"), self.step,
            *looked, *after, self.button, self.carried.box, self.told,
        ])  # fmt: skip
        self.handle = page.put(self.box)
        if form.handed_in:
            self.told.value = page.say("This is what was handed in: " + self._left_out())
        self._keep()

    def _tick(self, change: Any) -> None:
        name = change["owner"].description
        self._ticked = [one for one in self._ticked if one != name] + ([name] if change["new"] else [])

    def _pressed(self, _: Any) -> None:
        numbers, wrong, chosen = {}, [], self.carried.values()
        for name, label in (("place", "The line"), ("step", "The step")):
            value = chosen[name].strip() if isinstance(chosen[name], str) else chosen[name]
            if isinstance(value, str) and value and not (value.isdigit() and int(value)):
                wrong.append(f"{label} must be a whole number of at least 1, not {value!r}.")
            else:
                numbers[name] = int(value) if value else None
        cause = chosen.get("cause") or (self.form.diagnosis.cause if self.form.pairs else "")
        if not cause:
            above = " in the form above the program" if self.form.pairs else ""
            wrong.append(f"Nothing was handed in. Choose what is wrong first{above}.")
        if wrong:
            self.told.value = page.say("\n".join(wrong))
            return
        extra: dict[str, Any] = {"evidence": list(self._ticked)} if self.form.ask_evidence else {}
        if not self.form.pairs:
            extra["test"] = chosen["test"] or ""
        self.form.hand_in(cause=cause, **numbers, **extra)
        found = self.form.diagnosis
        hints = f"{found.hints} hint" + ("" if found.hints == 1 else "s")
        when = time.strftime("%H:%M")
        # if the notebook records it, the work began long before this form was shown
        took = "" if self.form.noted else f"took {_clock(found.seconds)} and "
        self.told.value = page.say(f"Saved at {when}: {self._left_out()} You {took}opened {hints}.{self._counts()}")
        self._keep()

    def _counts(self) -> str:
        """Return whether this is the diagnosis that is graded, or what it lacks."""
        if not self.form.pairs:
            return ""
        if self.form.lacks():
            return " It is not complete, so nothing is graded yet."
        counted = self.form.counted()
        if counted is None:
            return " This finding is complete. Fill in the other form as well: nothing is graded yet."
        last = record.diagnosis(self.form.diagnosis.ticket)
        if last in counted:
            return " It is complete: run the cells below."
        return " Your first complete one is graded; this is practice."

    def _left_out(self) -> str:
        """Return what was handed in and what is missing; a healthy program needs no line."""
        found = self.form.diagnosis
        empty = ["a line"] if found.place is None and "nothing" not in found.cause else []
        empty += ["a test"] if not found.test and (self.form.asked(found.cause)[1] or not self.form.pairs) else []
        empty += ["a look at a view"] if not found.evidence and (self.form.ask_evidence or self.form.noted) else []
        missing = " and ".join(filter(None, [", ".join(empty[:-1]), *empty[-1:]]))
        above = " above, keep it," if "a test" in empty and self.form.pairs else ""
        told = f"It lacks {missing}. Add it{above} and hand in again." if empty else ""
        return f"{found.text()}. {told}".strip()

    def _keep(self) -> None:
        """Set the text that stays in the saved notebook."""
        found = self.form.diagnosis
        told = f"Handed in: {found.text()}." if self.form.handed_in else "Diagnosis form: nothing handed in yet."
        page.keep(self.handle, f"{self.form.heading}{told} Run this cell for the form.")


def choice(options: list[tuple[str, str]], value: str) -> Any:
    """Return radio buttons without a default; free text if there are no options."""
    if not options:
        return w.Textarea(value=value, placeholder="in words", layout=WIDE)
    known = value if value in [one for _, one in options] else None
    return w.RadioButtons(options=options, value=known, layout=WIDE)


def line_picker(text: str, line: int | None) -> Any:
    """Return a listing to pick a line from if the program's text is known, else a number field."""
    if not text:
        box = w.Text(value=str(line or ""), placeholder="a number", layout={"width": "260px"})
        box.add_class("bugzoo-number")
        return box
    lines = [(f"{number:4d}  {text}", number) for number, text in enumerate(source_lines(text), 1)]
    known = line if line is not None and line <= len(lines) else None
    listing = w.Select(options=[("   -  no line", None), *lines], value=known, rows=16, layout=WIDE)
    listing.add_class("bugzoo-listing")
    return listing


def _clock(seconds: float) -> str:
    """Return a duration as 7 min 5 s, or 41 s."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
