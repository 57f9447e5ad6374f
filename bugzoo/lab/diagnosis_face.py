"""The two parts of a diagnosis form as widgets: cause, certainty and test above the program, line and step below it."""

import os
from typing import Any

import ipywidgets as w

from bugzoo import record
from bugzoo.diagnostics.causes import NOTHING
from bugzoo.errors import UserError
from bugzoo.lab import page
from bugzoo.lab.diagnosis import LETTERS
from bugzoo.lab.form_face import WIDE, Face, causes, choice, line_picker, number, whole

NO_VIEW = (
    "Nothing was handed in: no view was opened, and one that shows it is worth a point. Open one with program.look(...), or "
    "press Hand in again to go without."
)
RAISED = "Which line raised the error: the last line of program.py in the traceback?"


class First(Face):
    """The first part of a form with `pairs`: the cause, how sure one is, and the test that belongs to the cause."""

    def __init__(self, form: Any) -> None:
        super().__init__(form, button="Keep", icon="pencil", style="")
        self.controls["cause"].observe(lambda change: self._ask(change["new"] or "", ""), "value")

    def questions(self) -> list[tuple[str, Any, Any]]:
        diagnosis = self.form.diagnosis
        sure = w.IntSlider(value=50 if diagnosis.sure is None else diagnosis.sure, min=0, max=100, step=5)
        sure.layout.width = "360px"
        self.question, self.test = page.ask(""), choice([("", "")], "")
        self._ask(diagnosis.cause, diagnosis.test)
        return [
            ("cause", f"{self.form.heading}What is wrong?", causes(self.form)),
            ("sure", "How sure are you, from 0 (a guess) to 100 (certain)?", sure),
            ("test", self.question, self.test),
        ]

    def _ask(self, cause: str, test: str) -> None:
        """Ask for the test that belongs to a cause; the last answer goes with the last question."""
        question, texts = self.form.asked(cause)
        self.test.options = lettered(texts)
        self.test.value = test if test in LETTERS[: len(texts)] and test else None
        self.question.value = page.ask(question).value if texts else ""
        self.test.layout.display = None if texts else "none"

    def press(self, values: dict[str, Any]) -> str:
        if not values["cause"]:
            return "Nothing was kept. Choose a cause first; an unlikely one is fine."
        self.form.keep(values["cause"], int(values["sure"]), values["test"] or "")
        return self.opening()

    def opening(self) -> str:
        """Return the guesses so far, and what is still open."""
        diagnosis = self.form.diagnosis
        guesses = [
            f"{guess['sure']} %  {guess['cause']}, {looks}"
            for guess in record.notes(diagnosis.ticket, "hypothesis")
            for looks in [f"after {', '.join(guess['after'])}" if guess["after"] else "before any view"]
        ]
        open_test = self.form.asked(diagnosis.cause)[1] and not diagnosis.test
        more = ["The question about the test is still open."] if open_test else []
        more += ["Your diagnosis is handed in. What you change now is practice."] if self.form.counted() else []
        return "\n".join(["Kept so far:", *guesses, *more]) if guesses else ""

    def standing(self) -> str:
        return f"{self.form.heading}{self.opening() or 'Nothing kept yet.'}\n"


class Last(Face):
    """The part with line and step, which hands in; of a form without `pairs` the whole form."""

    warned = False
    """It was said that no view was opened."""

    def questions(self) -> list[tuple[str, Any, Any]]:
        form, diagnosis = self.form, self.form.diagnosis
        question, texts = form.asked(diagnosis.cause)
        line = f"{form.heading}Which line of the program has to change? None where nothing is wrong."
        rows = [
            ("cause", "What is wrong?", causes(form)),
            ("place", line, line_picker(form.text(), diagnosis.place)),
            ("raised", RAISED, line_picker(form.text(), diagnosis.raised)),
            ("step", "At which step does it first show?", number(diagnosis.step, "1 where it is there from the start")),
            ("evidence", "What did you look at? In the order in which you tick.", self._views()),
            ("test", question, choice(lettered(texts), diagnosis.test)),
        ]
        without = ({"cause", "test"} if form.pairs else set()) | (set() if form.ask_evidence else {"evidence"})
        without |= set() if form.ask_raised else {"raised"}
        return [row for row in rows if row[0] not in without]

    def asked(self) -> list[str]:
        return [name for name in self.controls if name != "evidence"]

    def _views(self) -> Any:
        """Return a box for each view, ticked in the order of the looks."""
        evidence = self.form.diagnosis.evidence
        self.ticked = list(evidence)
        self.seen = [w.Checkbox(value=name in evidence, description=name, indent=False) for name in self.form.views()]
        for box in self.seen:
            box.observe(self._tick, "value")
        return w.GridBox(self.seen, layout={"grid_template_columns": "repeat(auto-fill, minmax(200px, 1fr))", **WIDE})

    def _tick(self, change: Any) -> None:
        name = change["owner"].description
        self.ticked = [other for other in self.ticked if other != name] + ([name] if change["new"] else [])

    def press(self, values: dict[str, Any]) -> str:
        form, numbers, wrong = self.form, {}, []
        for name, what in (("place", "The line"), ("raised", "The line that raised"), ("step", "The step")):
            if name not in self.controls:
                continue
            try:
                numbers[name] = whole(values[name], what)
            except UserError as error:
                wrong.append(str(error))
        cause = form.diagnosis.cause if form.pairs else values["cause"]
        if not cause:
            above = " in the form above the program" if form.pairs else ""
            wrong.append(f"Nothing was handed in. Choose what is wrong first{above}.")
        if wrong:
            return "\n".join(wrong)
        if form.noted and not form.looked() and not self.warned and not form.ask_raised:
            self.warned = True
            return NO_VIEW
        numbers |= {"evidence": list(self.ticked)} if form.ask_evidence else {}
        numbers |= {} if form.pairs else {"test": values["test"] or ""}
        try:
            diagnosis = form.hand_in(cause=cause, **numbers)
        except UserError as error:
            return f"Nothing was handed in. {error}"
        hints = f"{diagnosis.hints} hint" + ("" if diagnosis.hints == 1 else "s")
        # if the notebook records it, the work began long before this form was shown
        took = "" if form.noted else f"took {_clock(diagnosis.seconds)} and "
        return f"{self._state()}\n{diagnosis.text()}. You {took}opened {hints}."

    def opening(self) -> str:
        if not self.form.handed_in:
            return ""
        return f"This is what was handed in: {self.form.diagnosis.text()}.\n{self._state()}"

    def _state(self) -> str:
        """Return the one state that the diagnosis is in: what it lacks, saved and graded, or practice."""
        form = self.form
        lacks, counted = form.lacks() if form.pairs else self._left_out(), form.counted()
        missing = " and ".join(filter(None, [", ".join(lacks[:-1]), *lacks[-1:]]))
        saved = f"Saved in {_notebook()}"
        if not form.pairs:
            return f"{saved}{', without ' * bool(missing)}{missing}."
        if missing:
            return f"Not complete: {missing} {'is' if len(lacks) == 1 else 'are'} missing, and nothing is graded yet."
        if counted is None:
            return f"{saved}. The other finding is missing, and nothing is graded yet."
        if record.diagnosis(form.diagnosis.ticket) not in counted:
            return f"{saved} as practice: your first complete diagnosis is graded."
        return f"{saved}, graded as your first: run the cell below."

    def _left_out(self) -> list[str]:
        """Return what a form without parts lacks."""
        diagnosis = self.form.diagnosis
        empty = ["a line"] if diagnosis.place is None and diagnosis.cause != NOTHING else []
        empty += [] if diagnosis.test else ["a test"]
        return empty + (["a look at a view"] if self.form.ask_evidence and not diagnosis.evidence else [])

    def standing(self) -> str:
        handed_in = self.form.handed_in
        text = f"Handed in: {self.form.diagnosis.text()}." if handed_in else "Diagnosis form: nothing handed in yet."
        return f"{self.form.heading}{text}"


def lettered(texts: Any) -> list[tuple[str, str]]:
    """Return the options of a question about the test: (its letter and text, its letter)."""
    return [(f"{letter}) {text}", letter) for letter, text in zip(LETTERS, texts, strict=False)]


def _notebook() -> str:
    """Return the notebook's file name, where its server says it."""
    return os.path.basename(os.environ.get("JPY_SESSION_NAME", "")) or "your record"


def _clock(seconds: float) -> str:
    """Return a duration as 7 min 5 s, or 41 s."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
