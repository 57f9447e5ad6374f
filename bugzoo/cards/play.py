"""Cards at a terminal, or from a pipe: a line's number for each, and the score at the end."""

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from bugzoo.cards.card import ASKED, Card
from bugzoo.errors import UserError

Say = Callable[..., None]
"""`print`, or something that is called like it."""


def play(cards: list[Card], say: Say = print) -> dict[str, Any]:
    """Ask card after card; returns what was answered. `q`, the end of the input and Ctrl-C end it: what was said stays."""
    answered: list[dict[str, Any]] = []
    say(f"{ASKED} q ends it.\n")
    for number, card in enumerate(cards, 1):
        say(f"Card {number} of {len(cards)}\n\n{card.excerpt.text}\n")
        started = time.monotonic()
        line = _asked(card, say)
        if line is None:
            break
        seconds = time.monotonic() - started
        right, told = card.answer(line, seconds)
        say("\n".join([told, *card.shown, ""]))
        about = {"key": card.key, "family": card.family, "program": card.program, "fault": card.fault}
        answered.append(about | {"line": line, "lines": card.wrong, "right": right, "seconds": round(seconds, 1)})
    return {"cards": len(cards), "answered": answered, "right": sum(one["right"] for one in answered)}


def summary(result: dict[str, Any]) -> str:
    """The last line: how many, how fast, and what to look at again."""
    answered = result["answered"]
    if not answered:
        return "No card was answered."
    seconds = statistics.median(one["seconds"] for one in answered)
    missed = sorted({one["family"] for one in answered if not one["right"]})
    again = f" Again: bugzoo cards --family {missed[0]}" if missed and missed != ["traps"] else ""
    return f"{result['right']} of {len(answered)} right, {seconds:.0f} s a card (the middle one).{again}"


def _asked(card: Card, say: Say) -> int | None:
    while True:
        say("line > ", end="" if sys.stdin.isatty() else "\n", flush=True)
        try:
            word = sys.stdin.readline()
        except KeyboardInterrupt:
            say("")
            return None
        if not word or word.strip().lower() in ("q", "quit"):
            return None
        try:
            line = int(word)
            if line in card.allowed:
                return line
        except ValueError:
            pass
        say(str(UserError(f"{word.strip()!r} is no line of this card; type 0 for none, a number shown above, or q.")))
