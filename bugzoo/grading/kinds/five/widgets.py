"""The widgets of a *five*: buttons that open readings, and the form of the answer. Both work by keyboard."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import ipywidgets as w

from bugzoo import record
from bugzoo.errors import UserError
from bugzoo.grading.kinds.five.answers import NONE, RUNS
from bugzoo.grading.kinds.five.recordings import recorded_views
from bugzoo.lab import page
from bugzoo.lab.form_face import Face, choice

if TYPE_CHECKING:
    from bugzoo.grading.kinds.five.runs import FiveRuns

POSITIONS = [*((f"run {place}", place) for place in range(1, RUNS + 1)), ("none: all five are healthy", NONE)]


class Readings:
    """A list of the views and a button for each run. A press opens a reading; those of a view stand below as columns.

    What the record holds is shown again at the start, and whenever its view is chosen.
    """

    def __init__(self, runs: "FiveRuns") -> None:
        self.runs = runs
        view, run = runs.latest()
        self.view = w.Dropdown(options=recorded_views(), value=view, layout={"width": "220px"})
        self.buttons = [w.Button(description=f"run {place}", layout={"width": "90px"}) for place in range(1, RUNS + 1)]
        self.shown, self.told = w.Output(), w.HTML()
        for place, button in enumerate(self.buttons, 1):
            button.on_click(lambda _, place=place: self._open(place))
        ask = page.ask("Which view, and of which run? A press opens the reading.")
        self.handle = page.put(page.form([ask, w.HBox([self.view, *self.buttons]), self.told, self.shown]))
        self.view.observe(lambda _: self._show(), "value")
        self._show(run)

    def _open(self, run: int) -> None:
        self.runs.note(str(self.view.value), run)
        self._show(run)

    def _show(self, run: int = 0) -> None:
        """Say the cost, and show the chosen view: its columns, and the picture of `run`, by default of the last column."""
        self.told.value = page.say(self.runs.cost())  # before the picture, which takes a second
        page.keep(self.handle, f"{self.runs.standing()} Run this cell for the buttons.")
        view = str(self.view.value)
        places = [place for name, place in self.runs.opened() if name == view]
        self.shown.clear_output(wait=bool(places))
        if places:
            with self.shown:
                self.runs.columns(view, run or places[-1])


class FiveForm(Face):
    """The answer: which run, of what, and which view told."""

    def questions(self) -> list[tuple[str, Any, Any]]:
        answer, views = record.diagnosis(self.form.ticket) or {}, recorded_views()
        view = answer.get("reading") if answer.get("reading") in views else ""
        run, ask = choice(POSITIONS, answer.get("run")), page.ask("What is wrong with it?")
        cause = choice([(cause, cause) for cause in self.form.causes], answer.get("cause", ""))

        def follow(_: Any = None) -> None:
            for part in (ask, cause):  # a healthy run has no cause
                part.layout.display = "none" if run.value == NONE else None

        run.observe(follow, "value")
        follow()
        return [
            ("run", "Which run is broken?", run),
            ("cause", ask, cause),
            (
                "reading",
                "Which view told you?",
                w.Dropdown(options=[("", ""), *((name, name) for name in views)], value=view),
            ),
        ]

    def press(self, values: dict[str, Any]) -> str:
        run = "" if values["run"] is None else values["run"]
        try:
            cause = "" if run == NONE else values["cause"] or ""
            return self.form.hand_in(run, cause, values["reading"] or "")
        except UserError as error:
            return str(error)

    def opening(self) -> str:
        return "This was handed in. " if record.diagnosis(self.form.ticket) else ""

    def standing(self) -> str:
        answer = record.diagnosis(self.form.ticket)
        return f"Handed in: {answered(answer)}." if answer else "Nothing handed in yet."


def answered(given: Mapping[str, Any]) -> str:
    """Return an answer in words."""
    run = given.get("run")
    named = "no run" if run is None else f"run {run}" if run else "none of the five"
    return ", ".join(filter(None, [named, given.get("cause"), f"told by {given.get('reading') or 'no view'}"]))
