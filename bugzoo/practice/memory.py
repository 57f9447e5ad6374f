"""How well each cause is remembered, by FSRS, and when it is due again."""

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from fsrs import Card, Rating, Scheduler, State

from bugzoo import faults
from bugzoo.cards.deck import families, programs_of
from bugzoo.errors import UserError
from bugzoo.practice.answers import Answer, answers, faults_of
from bugzoo.proving import ledger

DAY = 86400.0
SOON = timedelta(minutes=10)
"""After so long a cause comes back that was missed."""
UNSURE = 60
"""Who is right and less sure than this found it hard."""
SCHEDULER = Scheduler(learning_steps=(SOON,), relearning_steps=(SOON,), maximum_interval=365, enable_fuzzing=False)
"""With the weights that FSRS was fitted with; a learner's few hundred answers are too few for weights of their own."""


@dataclass(frozen=True)
class Memory:
    """What the record says of one cause. Times are in seconds since 1970."""

    cause: str
    card: Card
    """Of the package `fsrs`: stability, difficulty, the last review."""
    answers: tuple[Answer, ...]

    @property
    def due(self) -> float:
        return self.card.due.timestamp()

    @property
    def stability(self) -> float:
        """Days after which nine of ten such causes are still known."""
        return float(self.card.stability or 0.0)

    @property
    def programs(self) -> tuple[str, ...]:
        """Those it was met on, the latest last."""
        return tuple(dict.fromkeys(one.program for one in reversed(self.answers) if one.program))[::-1]

    def recall(self, at: float) -> float:
        """How likely it is known at this time, from 0 to 1."""
        return recalled(self.card, at)


@dataclass(frozen=True)
class Standing:
    """Everything that practice is made of, at one time."""

    now: float
    answers: tuple[Answer, ...]
    memories: dict[str, Memory]
    causes: tuple[str, ...]
    """All that can be asked for."""

    @property
    def due(self) -> list[Memory]:
        """What has to come back, the least known first."""
        found = [one for one in self.memories.values() if one.due <= self.now and one.cause in self.causes]
        return sorted(found, key=lambda one: (one.recall(self.now), one.due, one.cause))

    @property
    def new(self) -> list[str]:
        """Causes that were never asked for."""
        return [name for name in self.causes if name not in self.memories]


def when(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)


def rated(answer: Answer) -> Rating:
    """Missed, found with doubts, or found. Nobody is asked whether it was easy."""
    if not answer.right:
        return Rating.Again
    return Rating.Hard if answer.sure is not None and answer.sure < UNSURE else Rating.Good


def reviewed(card: Card | None, rating: Rating, at: float) -> Card:
    """The memory after one more answer; None: it was the first."""
    card = Card(card_id=1, due=when(at)) if card is None else card
    return SCHEDULER.review_card(card, rating, when(at))[0]


def recalled(card: Card, at: float) -> float:
    """How likely a cause is known, from 0 to 1, by FSRS; 0 until it was found without doubts since it was missed last."""
    return float(SCHEDULER.get_card_retrievability(card, when(at))) if card.state == State.Review else 0.0


def memories(given: Sequence[Answer]) -> dict[str, Memory]:
    """Cause -> what is known of it. The times of `given` never go back."""
    found: dict[str, list[Answer]] = {}
    cards: dict[str, Card] = {}
    for one in given:
        if one.cause:
            found.setdefault(one.cause, []).append(one)
            cards[one.cause] = reviewed(cards.get(one.cause), rated(one), one.at)
    return {cause: Memory(cause, cards[cause], tuple(mine)) for cause, mine in found.items()}


def standing(family: Collection[str] = (), now: float | None = None) -> Standing:
    """The record as it is now, for these families or all. Raises UserError for an unknown family, or a broken record."""
    wanted = [name for name in families(family=family) if name != "traps"] if family else []
    if family and not wanted:
        raise UserError("Traps come between the others by themselves; name another family: `bugzoo list faults`.")
    now = time.time() if now is None else now
    given = tuple(answers(now))
    known = [name for name, fault in faults.catalogue().items() if ledger.ours(name) and not fault.trap]
    asked = tuple(name for name in known if (not wanted or name.split("/")[0] in wanted) and programs_of(name))
    return Standing(now, given, memories(given), asked)


def exercises_of(cause: str) -> list[str]:
    """Exercises that are about a cause."""
    from bugzoo.grading.declared import everything

    return [name for name in everything() if cause in faults_of(name)]
