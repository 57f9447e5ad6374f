"""The list of proved hunts, filled: for each program, length and level the first draws that hold."""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from bugzoo import programs
from bugzoo.interview.hunt import draw, proof, recipe
from bugzoo.interview.hunt.recipe import LENGTHS, LEVELS, Recipe

SLOTS = ((20, 1), (20, 2), (45, 1), (45, 2), (45, 3), (90, 2), (90, 3))
"""Minutes and level of the hunts that each program should have."""
DRAWS = 6
"""So many draws are tried for a slot; a program in which six bugs do not go together is tried with five, then with four."""

Told = Callable[[str], None]


def homes() -> list[str]:
    """The programs that can hold a hunt."""
    return [
        name for name in programs.names() if programs.load(name).facts.get("ranks", 1) == 1 and draw.candidates(name)
    ]


def fill(
    places: Sequence[str] = (), slots: Iterable[tuple[int, int]] = SLOTS, say: Told = print, fresh: bool = False
) -> list[Recipe]:
    """Prove what the list lacks, and write each down as soon as it is known; the list."""
    found = {one.name: one for one in recipe.published()}
    stale = [name for name, one in found.items() if not _holds(one)]
    for name in [one for one in found if fresh or one in stale]:
        if not places or found[name].program in places:
            again = found.pop(name)
            try:
                proved = proof.proved(again)
                found[proved.name] = proved
                say(f"{name}: proved again")
            except Exception as error:
                if not isinstance(error, recipe.UserError):
                    raise
                say(f"{name}: {error}")
            recipe.publish(list(found.values()))
    for program in places or homes():
        for minutes, level in slots:
            if any((one.program, one.minutes, one.level) == (program, minutes, level) for one in found.values()):
                continue
            if new := first(
                program, minutes, level, say, {one.faults for one in found.values() if one.program == program}
            ):
                found[new.name] = new
                recipe.publish(list(found.values()))
    return sorted(found.values(), key=lambda one: one.name)


def first(
    program: str, minutes: int, level: int, say: Told = print, taken: Iterable[tuple[str, ...]] = ()
) -> Recipe | None:
    """The first draw of a slot that holds and is not one of `taken`; None where none did."""
    assert minutes in LENGTHS and level in LEVELS
    taken = set(taken)
    for count in range(LENGTHS[minutes], max(LENGTHS[minutes] - 3, 2), -1):
        for one in islice(draw.recipes(program, count, minutes, level, 100 * level + minutes), DRAWS):
            if one.faults in taken:
                continue
            try:
                proved = proof.proved(one)
            except proof.Hidden as why:
                say(f"  {program}, {minutes} min, level {level}: {why}")
                continue
            say(f"{proved.name}: {', '.join(' + '.join(wave) for wave in proved.waves)}")
            return proved
    return None


def _holds(one: Recipe) -> bool:
    try:
        return one.key == one.now()
    except recipe.UserError:  # a fault that fits no more, or that is gone
        return False
