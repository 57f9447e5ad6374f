"""Bugs of different kinds for one program, drawn by a seed from the cells that are proved one by one.

Each candidate fault gets a place by a hash of (seed, program, its id) and the first that fit are taken, so that a fault that
comes into the catalogue leaves most draws as they were.
"""

import hashlib
from collections.abc import Iterator, Sequence
from functools import lru_cache

from bugzoo import faults as catalogue
from bugzoo import programs
from bugzoo.errors import UserError
from bugzoo.faults.evidence import parse
from bugzoo.faults.model import Fault
from bugzoo.grading.evaluation import task
from bugzoo.interview.hunt.recipe import FEWEST, KINDS, LENGTHS, LEVELS, MOST, Recipe, kind_of, with_name
from bugzoo.proving.pool import published
from bugzoo.scenario import Scenario, fits

SPAN = {1: (0.0, 0.5), 2: (0.2, 0.7), 3: (0.35, 1.0)}
"""Level -> the measured difficulty that a bug of it may have (`bugzoo.proving.difficulty`); a crash may come at any level."""
SEEDS = 1000
TRIES = 200


def check(program: str, count: int | None, minutes: int, level: int) -> int:
    """How many bugs it will be. Raises UserError for what is not allowed."""
    programs.load(program)
    task(program)  # raises where the grader has no data of its own
    if programs.load(program).facts.get("ranks", 1) != 1:
        raise UserError(f"{program} runs in several processes, and a hunt's program in one. `bugzoo list programs`.")
    if minutes not in LENGTHS:
        raise UserError(f"--minutes {minutes} is no length of a hunt; it is {', '.join(map(str, LENGTHS))}.")
    if level not in LEVELS:
        raise UserError(
            f"--level {level} is not allowed; it is 1 (each bug has a complaint), 2 or 3 (nobody says a number)."
        )
    count = LENGTHS[minutes] if count is None else count
    if not FEWEST <= count <= MOST:
        raise UserError(f"--faults {count} is not allowed; a hunt has from {FEWEST} to {MOST} bugs.")
    return count


@lru_cache(maxsize=32)
def candidates(program: str) -> tuple[tuple[str, str, float], ...]:
    """(id, kind, difficulty) of every fault that may be planted there: proved alone, and to be told by what was measured."""
    hard = {
        case.faults[0]: case.difficulty for case in published() if len(case.faults) == 1 and case.program == program
    }
    found = []
    for name, fault in catalogue.catalogue().items():
        kind = kind_of(fault.symptom)
        usable = kind == "crash" or name in hard
        if kind and usable and plantable(fault) and program in fits(fault):
            found.append((name, kind, hard.get(name, 0.0)))
    return tuple(sorted(found))


def plantable(fault: Fault) -> bool:
    """Whether its repair can be told apart in one ordinary run. A time does not decide in a case of several bugs."""
    from bugzoo.grading.checks import timed

    named = {parse(text).instrument for text in fault.evidence}
    return bool(fault.evidence) and not fault.trap and not fault.needs and not named & set(timed())


def order(program: str, seed: int) -> list[tuple[str, str, float]]:
    """The candidates in the order of this seed."""
    return sorted(candidates(program), key=lambda one: hashlib.sha256(f"{seed} {program} {one[0]}".encode()).digest())


def drawn(program: str, count: int, level: int, seed: int) -> Iterator[tuple[str, ...]]:
    """Sets of `count` bugs, one after another: of different kinds as far as they go, edits that do not meet, in this level."""
    low, high = SPAN[level]
    seen: set[tuple[str, ...]] = set()
    for attempt in range(TRIES):
        places = order(program, seed + SEEDS * attempt)
        chosen: list[str] = []
        kinds: list[str] = []
        for spread in range(1, count + 1):  # first one of each kind, then two, ...
            for name, kind, hard in places:
                fair = kind == "crash" or low <= hard <= high
                once = kind != "crash" or "crash" not in kinds  # two crashes are one to whoever looks
                room = name not in chosen and kinds.count(kind) < spread
                if len(chosen) < count and fair and once and room and together(program, (*chosen, name), seed):
                    chosen.append(name)
                    kinds.append(kind)
        found = tuple(sorted(chosen))
        if len(found) == count and len(set(kinds)) >= min(FEWEST, len(KINDS)) and found not in seen:
            seen.add(found)
            yield found


def together(program: str, ids: Sequence[str], seed: int) -> bool:
    """Do their edits go into one text?"""
    try:
        return bool(Scenario(program, tuple(ids), seed=seed).source)
    except UserError:
        return False


def recipes(program: str, count: int, minutes: int, level: int, seed: int) -> Iterator[Recipe]:
    """Recipes that nobody has proved yet, the seed's own first."""
    hard = {name: value for name, _, value in candidates(program)}
    for ids in drawn(program, count, level, seed):
        mean = round(sum(hard[name] for name in ids) / len(ids), 3)
        yield with_name(Recipe("", program, ids, seed % SEEDS, minutes, level, mean))
