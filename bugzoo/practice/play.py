"""A hand at a terminal, or from a pipe: a line for each card and how sure you are of it, and when its cause comes back."""

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from bugzoo.cards.card import ASKED, Card
from bugzoo.practice.answers import Answer
from bugzoo.practice.hand import Turn
from bugzoo.practice.memory import DAY, Standing, rated, reviewed

Say = Callable[..., None]
"""`print`, or something that is called like it."""
EVEN = 50
"""What an empty line says to how sure somebody is."""


class Ended(Exception):
    """The input is over, or somebody said q or Ctrl-C."""


def play(hand: Sequence[Turn], now: Standing, say: Say = print) -> dict[str, Any]:
    """Ask card after card; returns what was answered. What was said before the end stays, whichever way it ended."""
    answered: list[dict[str, Any]] = []
    say(f"{ASKED} Then how sure you are that this is right, 0 to 100. q ends it.\n")
    try:
        for number, turn in enumerate(hand, 1):
            say(
                f"Card {number} of {len(hand)} · ticket {turn.card.key.partition('/')[0]}\n\n{turn.card.excerpt.text}\n"
            )
            answered.append(_one(turn, now, say))
    except (Ended, KeyboardInterrupt):
        say("")
    result: dict[str, Any] = {"cards": len(hand), "answered": answered, "right": sum(one["right"] for one in answered)}
    return result | {"brier": round(statistics.fmean(one["brier"] for one in answered), 3) if answered else None}


def _one(turn: Turn, now: Standing, say: Say) -> dict[str, Any]:
    card, started = turn.card, time.monotonic()
    line = _asked("line > ", lambda word: _line(card, word), "0 for none, a number shown above, or q", say)
    seconds = time.monotonic() - started
    sure = _asked("how sure, 0 to 100 > ", _sure, "a whole number from 0 to 100, nothing for 50, or q", say)
    right, told = card.answer(line, seconds, sure)
    answer = Answer(time.time(), "card", card.fault, card.family, right, right, sure, seconds, card.program)
    say("\n".join(filter(None, [told, *card.shown, _back(card, answer, now)])) + "\n")
    return {
        "ticket": card.key.partition("/")[0], "why": turn.why, "family": card.family, "fault": card.fault,
        "program": card.program, "line": line, "lines": card.wrong, "right": right, "sure": sure,
        "brier": round(answer.brier or 0.0, 4), "seconds": round(seconds, 1), "days": _days(card, answer, now),
    }  # fmt: skip


def _days(card: Card, answer: Answer, now: Standing) -> float | None:
    """Days until the cause comes back; None where nothing was wrong."""
    if card.healthy:
        return None
    memory, at = now.memories.get(card.fault), max(answer.at, now.now)
    after = reviewed(memory.card if memory else None, rated(answer), at)
    return round((after.due.timestamp() - at) / DAY, 3)


def _back(card: Card, answer: Answer, now: Standing) -> str:
    days = _days(card, answer, now)
    if days is None:
        return ""
    return f"It comes back in {days:.0f} day{'' if round(days) == 1 else 's'}." if days >= 1 else "It comes back today."


def _asked(prompt: str, read: Callable[[str], int | None], allowed: str, say: Say) -> int:
    while True:
        say(prompt, end="" if sys.stdin.isatty() else "\n", flush=True)
        word = sys.stdin.readline()
        if not word or word.strip().lower() in ("q", "quit"):
            raise Ended
        if (found := read(word.strip())) is not None:
            return found
        say(f"{word.strip()[:40]!r} is not allowed; type {allowed}.")


def _line(card: Card, word: str) -> int | None:
    number = int(word) if word.isascii() and word.isdigit() and len(word) < 9 else None
    return number if number in card.allowed else None


def _sure(word: str) -> int | None:
    if not word:
        return EVEN
    word = word.removesuffix("%").strip()
    number = int(word) if word.isascii() and word.isdigit() and len(word) < 9 else None
    return number if number is not None and number <= 100 else None


def summary(result: dict[str, Any], left: int) -> str:
    """The last lines: how many, how fast, how well the sureness fits, and what is still due."""
    answered = result["answered"]
    more = f"{left} more are due: `bugzoo practice`." if left > 0 else "Nothing else is due."
    if not answered:
        return f"No card was answered. {more}"
    seconds = statistics.median(one["seconds"] for one in answered)
    sure = statistics.fmean(one["sure"] for one in answered)
    return (
        f"{result['right']} of {len(answered)} right, {seconds:.0f} s a card (the middle one). You said {sure:.0f} on "
        f"average; Brier score {result['brier']:.2f} (0 is best, always saying 50 earns 0.25).\n{more}"
    )
