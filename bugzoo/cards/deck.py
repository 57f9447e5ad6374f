"""Which cards there are, and which come: always the same for one seed, no fault twice in a hand."""

from collections.abc import Callable, Collection, Iterator
from hashlib import sha256

from bugzoo import faults
from bugzoo.cards.card import Card, make
from bugzoo.errors import UserError, unknown
from bugzoo.proving import ledger
from bugzoo.scenario import fits

MOST = 100
"""Cards of one hand."""
WELL = 8
"""One card in so many shows lines in which nothing was changed."""


def families(lesson: str = "", family: Collection[str] = ()) -> tuple[str, ...]:
    """The families that are asked for: those of a lesson's cases, or by name, or all. Raises UserError."""
    known = tuple(sorted({name.split("/")[0] for name in faults.catalogue() if ledger.ours(name)}))
    if lesson and family:
        raise UserError(
            "Both a lesson and a family were named; its lesson says which families it draws from. Name one."
        )
    if lesson:
        from bugzoo import lessons

        cases = lessons.load(lesson).cases.values()
        found = {spec.partition("?")[0].split("/")[0] for _, specs in cases for spec in specs} - {"traps"}
        if not found:
            raise UserError(f"Lesson {lesson} shows no broken program, so that no cards belong to it.")
        return tuple(sorted(found))
    for name in family:
        if name not in known:
            raise unknown("family", name, known, "bugzoo list faults")
    return tuple(sorted(set(family))) or known


def deal(count: int = 5, seed: int = 0, lesson: str = "", family: Collection[str] = ()) -> list[Card]:
    """`count` cards, at most one of a fault while there are others. Raises UserError.

    Beside the families that are asked for come programs that look odd and are well.
    """
    if not 1 <= count <= MOST:
        raise UserError(f"{count} cards is not allowed; a hand has 1 to {MOST}.")
    wanted = families(lesson, family)
    names = [name for name in faults.catalogue() if ledger.ours(name) and name.split("/")[0] in (*wanted, "traps")]

    def order(name: str) -> bytes:  # by a hash of each name: a fault that is added moves none of the others
        return sha256(f"{seed} {name}".encode()).digest()

    names.sort(key=order)
    traps = [name for name in names if name.startswith("traps/")]
    if "traps" not in wanted:  # as many as there would be in a hand of all families
        spare = set(traps[max(1, count // WELL) :])
        names = [name for name in names if name not in spare]
    hand: list[Card] = []
    for turn in range(len(names)):  # the second program of a fault comes when every fault has had its first
        before = len(hand)
        for name in names:
            if card := _one(name, turn, order):
                hand += [card] if card.excerpt.text not in {one.excerpt.text for one in hand} else []
            if len(hand) == count:
                return hand
        if len(hand) == before:
            break
    return hand


def _one(name: str, turn: int, order: Callable[[str], bytes]) -> Card | None:
    """The card of a fault on its `turn`-th program of those that it fits."""
    programs = sorted(programs_of(name), key=lambda program: order(f"{name} {program}"))
    if turn >= len(programs):
        return None
    well = order(f"{name} {programs[turn]} well")[0] % WELL == 0
    return make(name, programs[turn], healthy=well) or make(name, programs[turn])


def programs_of(name: str) -> list[str]:
    """The programs on which a fault is proved, or fits where this bugzoo carries no ledger."""
    waits = ledger.waiting()
    return [program for program in fits(faults.load(name)) if f"{name} on {program}" not in waits]


def inventory(family: Collection[str] = (), tell: Callable[[int, int], None] | None = None) -> Iterator[Card]:
    """Every different card that there is, one by one; `tell(done, of)` hears of the faults that were looked at."""
    asked = families(family=family)
    names = [name for name in faults.catalogue() if ledger.ours(name) and name.split("/")[0] in asked]
    for done, name in enumerate(names, 1):
        seen = set()
        for program in programs_of(name):
            card = make(name, program)
            if card and card.excerpt.text not in seen:
                seen.add(card.excerpt.text)
                yield card
        if tell:
            tell(done, len(names))
