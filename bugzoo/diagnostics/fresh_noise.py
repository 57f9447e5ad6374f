"""Does each training step draw new random numbers?

A seed set in the loop resets the generator at every step. Dropout drops the same units each time, augmentation repeats itself,
and each epoch has the order of the epoch before. The loop's body is run again a few times, and its calls that seed a generator
are recorded. `seeded` counts those of one step, if every step passes the same seeds. With a seed that changes at every step, each
step draws its own numbers.
"""

import contextlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics.conditions import Alarm, above
from bugzoo.diagnostics.numbers import Measured, judges, number
from bugzoo.diagnostics.verdict import Suspect, Verdict
from bugzoo.rerun.body import again
from bugzoo.running.result import Run

COST = 1
VIEW = "repeat"
TITLE = "Random numbers of the steps"
KNOWN_PROBLEMS = (
    "A false positive where each step seeds a generator on purpose, for example to draw one preview, and restores its state "
    "afterwards. "
    "It misses torch.Generator.manual_seed(), np.random.default_rng() and set_rng_state(), and seeds that are set once per "
    "epoch or in a worker."
)
HEALTHY = example()
SICK = example(("optimizer.zero_grad()", "optimizer.zero_grad(), torch.manual_seed(0)"))
TIMES = 3
_PLACES = ((torch, "manual_seed"), (torch.random, "manual_seed"), (np.random, "seed"), (random, "seed"))


@dataclass(kw_only=True)
class Numbers(Measured):
    """Counts."""

    seeded: float = number("calls per step that reset a random generator", (0, 0))
    looked_at: float = number("steps that were run again")


reseeded = Alarm(
    above("seeded"),
    "Steps ran again, and the generators were watched. {seeded:.2g} times per step one starts from the same number.",
    "No step should do so ({limits[seeded]:.0f}).",
)
ALARMS = (reseeded,)


@contextlib.contextmanager
def _seeds() -> Iterator[list[list[str]]]:
    """Collects the seeds set within it, one list for each optimizer step; the last list holds what followed."""
    heard: list[list[str]] = [[]]
    before = [(owner, name, getattr(owner, name)) for owner, name in _PLACES]

    def listening(original: Any) -> Any:
        def seeded(*args: Any, **kwargs: Any) -> Any:
            seed = next(iter((*args, *kwargs.values())), None)
            if seed is not None:
                heard[-1].append(str(seed))
            return original(*args, **kwargs)

        return seeded

    handle = register_optimizer_step_post_hook(lambda *_: heard.append([]))
    for owner, name, original in before:
        setattr(owner, name, listening(original))
    try:
        yield heard
    finally:
        handle.remove()
        for owner, name, original in before:
            setattr(owner, name, original)


def measure(run: Run) -> Numbers:
    """Counts. Raises NotApplicable if the loop's body cannot be run again."""
    with _seeds() as heard:
        again(run, TIMES)
    steps = heard[:-1] if heard[-1:] == [[]] else heard
    same = len(steps) > 1 and all(seeds == steps[0] for seeds in steps)
    return Numbers(seeded=float(len(steps[0])) if same else 0.0, looked_at=float(len(steps)))


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires if every step sets a generator to the same seed."""
    suspects: tuple[Suspect, ...] = ()
    text = "no step resets a random generator"
    if reseeded(numbers):
        text = "every step sets a generator to the same seed, so all steps draw the same random numbers"
        suspects = (Suspect("reproducibility/seed_inside_loop", 0.9, text),)
    return Verdict("fresh_noise", bool(suspects), text, numbers.labeled(), suspects)
