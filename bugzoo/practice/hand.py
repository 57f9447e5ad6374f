"""What comes now: causes that are due, each in new clothes, mixed with what looks like them and with what is well."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

from bugzoo import faults
from bugzoo.cards import Card
from bugzoo.cards.card import make
from bugzoo.cards.deck import MOST, programs_of
from bugzoo.errors import UserError
from bugzoo.practice.memory import Standing
from bugzoo.practice.weights import pressing

DUE, NEW, ALIKE, WELL = "due", "new", "look-alike", "nothing is wrong"
PAIRED = 2
"""After so many causes comes a look-alike of one of them."""
QUIET = 5
"""And after so many something in which nothing is wrong."""
SEEDS = 1000
"""Programs are dealt under as many seeds, which also draw the ticket."""


@dataclass(frozen=True)
class Turn:
    """One card of a hand, and why it comes: due, new, a look-alike of another one, or nothing wrong."""

    card: Card
    why: str


def deal(now: Standing, count: int = 10, seed: int = 0) -> list[Turn]:
    """`count` cards, or fewer where there are no more: first what is due, the least known first, then what is new.

    The same standing and seed deal the same. No lines come twice in a hand. Raises UserError for a count that is not allowed.
    """
    if not 1 <= count <= MOST:
        raise UserError(f"--count {count} is not allowed; a hand has 1 to {MOST} cards.")
    hand: list[Turn] = []
    shown: set[str] = set()
    used: set[str] = set()
    wanted = _wanted(now, seed)
    pool, wells, asked = _wells(now, seed), 0, 0

    def put(fault: str, why: str, well: bool = False, beside: str = "") -> bool:
        card = None if fault in used else _card(now, fault, seed, well, beside)
        if card is None or card.excerpt.text in shown:
            return False
        shown.add(card.excerpt.text)
        used.add(fault)
        hand.append(Turn(card, why))
        return True

    for fault, why in wanted:
        if len(hand) >= count:
            break
        if not put(fault, why):
            continue
        asked += 1
        if asked % PAIRED == 0 and len(hand) < count:
            any(put(other, ALIKE, beside=hand[-1].card.program) for other in _alike(fault))
        if asked // QUIET > wells and len(hand) < count:
            wells += any(put(name, WELL, well) for name, well in pool)
    return sorted(hand, key=lambda one: _order(seed, "place", one.card.key))  # nobody is told why a card comes


def _order(*words: object) -> bytes:
    """By a hash of each name: a fault that is added moves none of the others."""
    return sha256(" ".join(map(str, words)).encode()).digest()


def _wanted(now: Standing, seed: int) -> Iterator[tuple[str, str]]:
    yield from ((one.cause, DUE) for one in now.due)
    ranks = {family: rank for rank, family in enumerate(pressing(now))}
    new = sorted(now.new, key=lambda name: _order(seed, "turn", name))
    turns: dict[str, int] = {}
    placed = []
    for name in new:  # one of each family before the second of any, the most pressing family first
        family = name.split("/")[0]
        turns[family] = turns.get(family, 0) + 1
        placed.append((turns[family], ranks[family], name))
    yield from ((name, NEW) for *_, name in sorted(placed))


def _alike(fault: str) -> list[str]:
    """What looks like a cause, whether it is due or not."""
    return [one.other for one in faults.load(fault).look_alikes if one.other in faults.catalogue()]


def _wells(now: Standing, seed: int) -> Iterator[tuple[str, bool]]:
    """(a trap or a fault, are its lines shown without it), in turn, in an order that the seed settles."""
    traps = [name for name, one in faults.catalogue().items() if one.trap and ":" not in name]
    traps.sort(key=lambda name: _order(seed, "trap", name))
    others = sorted(now.causes, key=lambda name: _order(seed, "well", name))
    for trap, other in zip(traps, others, strict=False):
        yield from ((trap, False), (other, True))


def _card(now: Standing, fault: str, seed: int, well: bool, beside: str) -> Card | None:
    """A card of a fault under a seed and dialects of its own, on the program that it was met on longest ago, or never.

    What is put `beside` another card is on its program, where it fits there.
    """
    memory = now.memories.get(fault)
    met = memory.programs if memory else ()
    mine = sorted(programs_of(fault), key=lambda name: _order(seed, fault, name))
    mine.sort(key=lambda name: (name != beside, met.index(name) if name in met else -1))
    turn = f"{seed}:{fault}:{len(memory.answers) if memory else 0}"
    drawn = int.from_bytes(_order(turn)[:4], "big") % SEEDS
    for program in mine:
        if card := make(fault, program, well, drawn, turn):
            return card
    return None


def drill(now: Standing, seed: int = 0) -> tuple[str, str]:
    """(cause, program) of the drill that is due first, else of a new cause; on a program that it was not met on lately.

    Raises UserError where no cause of these families can be drilled.
    """
    from bugzoo.interview import deck

    for cause, _ in _wanted(now, seed):
        memory = now.memories.get(cause)
        met = memory.programs if memory else ()
        mine = sorted(deck.programs_of(faults.load(cause)), key=lambda name: _order(seed, cause, name))
        if mine:
            return cause, min(mine, key=lambda name: met.index(name) if name in met else -1)
    raise UserError("No cause of these families can be played as a drill; leave --family out, or practise with cards.")
