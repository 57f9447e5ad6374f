"""A line-up's form as widgets: native radio buttons and check boxes, by mouse or by keyboard."""

from typing import TYPE_CHECKING, Any

import ipywidgets as w

from bugzoo.errors import UserError
from bugzoo.grading.lineup.model import LETTERS, NONE
from bugzoo.lab import page

if TYPE_CHECKING:
    from bugzoo.grading.lineup.five import Board


class Face:
    """What is seen of `board.answer()`."""

    def __init__(self, board: "Board") -> None:
        self.board = board
        self.run = w.RadioButtons(options=[*zip(LETTERS, LETTERS, strict=True), ("none of them", NONE)], value=None)
        self.cause = w.RadioButtons(options=board.causes, value=None, layout={"width": "100%"})
        self.button = w.Button(description="Hand in", button_style="primary", icon="check")
        self.carried = page.Carried(self.button, run=self.run, cause=self.cause)
        self.told = w.HTML()
        self.button.on_click(self._pressed)
        rows = [page.ask("Which run is ill?"), self.run, page.ask("What is wrong with it?"), self.cause]
        rows += [page.ask("What you looked at of that run is noted: it counts as your evidence."), self.button]
        self.handle = page.put(page.form([*rows, self.carried.box, self.told]))
        page.keep(self.handle, "Run this cell to answer.")

    def _pressed(self, _: Any) -> None:
        chosen = self.carried.values()
        if not chosen["run"]:
            self.told.value = page.say("Nothing was handed in: choose a run, or none of them, first.")
            return
        try:
            said = self.board.hand_in(chosen["run"], chosen["cause"] or "")
        except UserError as error:
            said = str(error)
        self.told.value = page.say(said)
        page.keep(self.handle, f"{said} Run this cell to answer again.")
