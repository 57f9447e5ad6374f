"""A plan to a date: how much a day, and which families first."""

import statistics
from dataclasses import asdict, dataclass
from datetime import date, datetime, time, timedelta
from math import ceil
from typing import Any

from fsrs import Card, Rating

from bugzoo.errors import UserError
from bugzoo.practice.memory import DAY, Standing, recalled, reviewed
from bugzoo.practice.weights import pressing

LONGEST = 730
"""Days of a plan."""
SETTLING = 0.75
"""New causes come in this first part of the days, so that the last of them come back before the date."""
SECONDS = 40.0
"""For a card, until the record knows how long this learner takes; a guess."""
KNOWN = 10
"""Cards whose seconds say how long this learner takes."""
COMPANY = 1.5
"""Cards of a hand for each cause in it: what looks like it and what is well come between them."""


@dataclass(frozen=True)
class Plan:
    """`days` and what each asks for, if every answer is right; a missed cause comes once more."""

    by: str
    days: int
    new: int
    """Causes that were never met."""
    new_a_day: int
    reviews: int
    """Of causes that were met, over all days."""
    cards_a_day: float
    busiest: int
    """Cards of the fullest day."""
    minutes_a_day: float
    seconds_known: bool
    """Are the minutes made of this learner's own seconds a card?"""
    recall_today: float
    """How many of all causes would be found today, from 0 to 1."""
    recall: float
    """The same at the date, by FSRS."""
    families: tuple[str, ...]
    """Which first."""
    weeks: tuple[dict[str, Any], ...]
    """{"from", "new", "reviews", "cards"} of each week."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def day_of(text: str, now: float) -> date:
    """`2026-12-24` as a date. Raises UserError for what is none, or does not lie ahead within two years."""
    today = datetime.fromtimestamp(now).date()
    example = (today + timedelta(days=30)).isoformat()
    try:
        found = date.fromisoformat(text) if len(text) == 10 else None
    except ValueError:
        found = None
    if found is None:
        raise UserError(f"--by {text!r} is no date; write year, month and day, such as --by {example}.")
    if not 1 <= (found - today).days <= LONGEST:
        last = (today + timedelta(days=LONGEST)).isoformat()
        raise UserError(
            f"--by {text} is not allowed: a plan goes to a day after today, up to {last}, such as {example}."
        )
    return found


def plan(now: Standing, by: date) -> Plan:
    """What has to be done each day from today on, so that every cause was met and came back before the day `by`."""
    today = datetime.fromtimestamp(now.now).date()
    days = (by - today).days
    families = pressing(now)
    waiting = sorted(now.new, key=lambda name: (-families[name.split("/")[0]], name))
    new_a_day = ceil(len(waiting) / max(1, int(days * SETTLING)))
    cards: dict[str, Card] = {name: one.card for name, one in now.memories.items() if name in now.causes}
    fresh, again = [0] * days, [0] * days
    for day in range(days):
        at = now.now + day * DAY
        end = datetime.combine(today + timedelta(days=day), time.max).timestamp()
        for name, card in cards.items():
            if card.due.timestamp() <= end:
                again[day] += 1
                cards[name] = reviewed(card, Rating.Good, max(at, card.due.timestamp()))
        for name in waiting[:new_a_day]:
            fresh[day] += 1
            cards[name] = reviewed(None, Rating.Good, at)
        del waiting[:new_a_day]
    then = datetime.combine(by, time()).timestamp()
    counts = [ceil(COMPANY * (one + two)) for one, two in zip(fresh, again, strict=True)]
    seconds, known = _seconds(now)
    return Plan(
        by.isoformat(), days, sum(fresh), new_a_day, sum(again),
        round(statistics.fmean(counts), 1), max(counts), round(statistics.fmean(counts) * seconds / 60, 1), known,
        _recall(now.causes, {name: one.card for name, one in now.memories.items()}, now.now),
        _recall(now.causes, cards, then), tuple(families), _weeks(today, fresh, again, counts),
    )  # fmt: skip


def _recall(causes: tuple[str, ...], cards: dict[str, Card], then: float) -> float:
    known = [recalled(cards[name], then) if name in cards else 0.0 for name in causes]
    return round(statistics.fmean(known), 3) if known else 0.0


def _seconds(now: Standing) -> tuple[float, bool]:
    """What a card takes this learner, the middle one, and whether that is known."""
    mine = [one.seconds for one in now.answers if one.kind == "card" and one.seconds is not None]
    return (statistics.median(mine), True) if len(mine) >= KNOWN else (SECONDS, False)


def _weeks(today: date, fresh: list[int], again: list[int], counts: list[int]) -> tuple[dict[str, Any], ...]:
    rows = []
    for start in range(0, len(fresh), 7):
        week = slice(start, start + 7)
        begins = (today + timedelta(days=start)).isoformat()
        rows.append({"from": begins, "new": sum(fresh[week]), "reviews": sum(again[week]), "cards": sum(counts[week])})
    return tuple(rows)
