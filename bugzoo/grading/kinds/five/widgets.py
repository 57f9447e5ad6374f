"""The widgets of a *five*: buttons that open readings, and the form of the answer. Both work by keyboard."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import ipywidgets as w

from bugzoo import record
from bugzoo.errors import UserError
from bugzoo.grading.kinds.five.answers import NONE, RUNS
from bugzoo.grading.kinds.five.recordings import recorded_views
from bugzoo.lab import page
from bugzoo.lab.diagnosis_face import choice

if TYPE_CHECKING:
    from bugzoo.grading.kinds.five.runs import FiveRuns

POSITIONS = [*((f"run {place}", place) for place in range(1, RUNS + 1)), ("none: all five are healthy", NONE)]


class Readings:
    """A list of the views and a button for each run. A press opens the reading below the buttons."""

    def __init__(self, runs: "FiveRuns") -> None:
        self.runs = runs
        self.view = w.Dropdown(options=recorded_views(), layout={"width": "220px"})
        self.buttons = [w.Button(description=f"run {place}", layout={"width": "90px"}) for place in range(1, RUNS + 1)]
        self.shown, self.told = w.Output(), w.HTML(page.say(runs.cost()))
        for place, button in enumerate(self.buttons, 1):
            button.on_click(lambda _, place=place: self._open(place))
        ask = page.ask("Which view, and of which run? A press opens the reading.")
        page.keep(page.put(page.form([ask, w.HBox([self.view, *self.buttons]), self.told, self.shown])), runs.cost())

    def _open(self, run: int) -> None:
        self.shown.clear_output(wait=True)
        with self.shown:
            self.runs.look(str(self.view.value), run)
        self.told.value = page.say(self.runs.cost())


class FiveForm:
    """The answer: which run, of what, and which view told."""

    def __init__(self, runs: "FiveRuns") -> None:
        self.runs = runs
        given = record.diagnosis(runs.ticket) or {}
        self.run = w.RadioButtons(options=POSITIONS, value=given.get("run"), layout={"width": "100%"})
        self.cause = choice([(cause, cause) for cause in runs.causes], given.get("cause", ""))
        names = recorded_views()
        named = given.get("reading") if given.get("reading") in names else ""
        self.reading = w.Dropdown(options=[("", ""), *((name, name) for name in names)], value=named)
        self.button = w.Button(description="Hand in", button_style="primary", icon="check")
        self.carried = page.Carried(self.button, run=self.run, cause=self.cause, reading=self.reading)
        self.told = w.HTML()
        self.button.on_click(self._pressed)
        box = page.form([
            page.ask("Which run is broken?"), self.run,
            page.ask("What is wrong with it?"), self.cause,
            page.ask("Which view told you?"), self.reading,
            self.button, self.carried.box, self.told,
        ])  # fmt: skip
        self.handle = page.put(box)
        self._keep("This was handed in. " if given else "")

    def _pressed(self, _: Any) -> None:
        chosen = self.carried.values()
        try:
            run = chosen["run"]
            said = self.runs.hand_in("" if run is None else run, chosen["cause"] or "", chosen["reading"] or "")
        except UserError as error:
            said = str(error)
        self._keep(said)

    def _keep(self, said: str) -> None:
        """Show a reply, and set the text that stays in the saved notebook."""
        given = record.diagnosis(self.runs.ticket)
        what = f"Handed in: {answered(given)}." if given else "Nothing handed in yet."
        self.told.value = page.say(said)
        page.keep(self.handle, f"{what} Run this cell for the form.")


def answered(given: Mapping[str, Any]) -> str:
    """Return an answer in words."""
    run = given.get("run")
    named = "no run" if run is None else f"run {run}" if run else "none of the five"
    return ", ".join(filter(None, [named, given.get("cause"), f"told by {given.get('reading') or 'no view'}"]))
