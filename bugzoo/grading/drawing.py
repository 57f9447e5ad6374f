"""Which steps, and which further seed, are compared with the healthy program's: drawn after the hand-in."""

import os
import random
import secrets
from collections.abc import Sequence

DRAW = "BUGZOO_DRAW"
"""Environment variable with a number to draw from, which repeats a grading."""
DRAWN = 24
"""Steps that are drawn in a run; a third of them lie in its last third."""
LONGEST = 40
"""Most steps in a row that are compared on the drawn seed."""


def number(given: int | None = None) -> int:
    """Return the number to draw from: the given one, that of the environment, or a new one."""
    text = os.environ.get(DRAW, "")
    return given if given is not None else int(text) if text.isdecimal() else secrets.randbelow(10**6)


def draw(number: int, seed: int, steps: int, count: int = DRAWN) -> bytes:
    """Return for each of a run's steps 1 or 0: whether it is compared, `count` in all.

    `number` is drawn after the hand-in.
    The last step is left out, as no step begins after it.
    """
    source = random.Random(f"{number} {seed}")
    late = range(2 * steps // 3, steps - 1)
    chosen = set(source.sample(late, min(count // 3, len(late))))
    others = [step for step in range(steps - 1) if step not in chosen]
    chosen |= set(source.sample(others, min(count - len(chosen), len(others))))
    return bytes(int(step in chosen) for step in range(steps))


def other_seed(number: int, known: Sequence[int]) -> int:
    """Return a seed that no hand-in can know: not one of the `known` ones."""
    source = random.Random(f"seed {number}")
    return next(seed for seed in iter(lambda: source.randrange(3, 10**6), -1) if seed not in known)


def stretches(number: int, steps: int, epoch: int | None) -> bytes:
    """Return for each of a run's steps 1 or 0: all steps of two epochs, or of two stretches where these are long."""
    source, long = random.Random(f"stretch {number}"), min(epoch or LONGEST, LONGEST)
    starts = range(0, steps - 1, epoch or LONGEST)
    begins = source.sample(starts, min(2, len(starts)))
    chosen = {step for start in begins for step in range(start, min(start + long, steps - 1))}
    return bytes(int(step in chosen) for step in range(steps))
