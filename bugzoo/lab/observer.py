"""Which came first: a guess about a run, or a look at its program? An observer in the page listens for cells that are opened."""

import json
from collections.abc import Sequence
from typing import Any

from bugzoo import record
from bugzoo.lab.chart import FRONT
from bugzoo.lab.frontend import headless

SURE = {80: "sure", 50: "rather sure", 0: "as a guess"}
"""The least certainty, of 100 -> how it is said."""


def listen(ticket: str) -> None:
    """Start the observer in this page; nothing without a front end. It notes that it listens, and the first opened cell."""
    if headless():
        return
    import ipywidgets as w
    from IPython.display import display

    field = w.Text(layout={"display": "none"})
    field.add_class("bugzoo-observer")
    field.observe(lambda change: _heard(ticket, change["new"]), "value")
    display(field)
    script = (FRONT / "observer.js").read_text(encoding="utf-8")
    display({"text/html": f"<script>{script}</script>", "text/plain": ""}, raw=True)


def _heard(ticket: str, text: str) -> None:
    for event in json.loads(text or "[]"):
        if event["what"] != "listening":
            opened(ticket, event["what"])
        elif not record.notes(ticket, "listening"):
            record.note(ticket, "listening", {})


def opened(ticket: str, what: str) -> None:
    """Note that the program, or a part of it, was opened; only the first time counts."""
    if ticket and not record.notes(ticket, "opened"):
        record.note(ticket, "opened", {"what": what})


def guess_from_the_run(tickets: Sequence[str]) -> dict[str, Any] | None:
    """Return the first guess of a case, if the page listened and nothing of the program had been opened; else None.

    `tickets`: those of its forms. None does not say that the program was read: another front end may not have listened.
    """
    case = tickets[0].partition("/")[0]
    notes = [note for ticket in dict.fromkeys((case, *tickets)) for note in record.notes(ticket)]
    before = sorted(notes, key=lambda note: note["at"])
    guesses = [place for place, note in enumerate(before) if note["kind"] in ("hypothesis", "diagnosis")]
    kinds = {note["kind"] for note in before[: guesses[0]]} if guesses else set()
    return before[guesses[0]] if "listening" in kinds and "opened" not in kinds else None


def how_sure(percent: int) -> str:
    """Return a certainty from 0 to 100 in one of three grains."""
    return next(word for least, word in SURE.items() if percent >= least)
