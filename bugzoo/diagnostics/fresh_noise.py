"""Does each step draw random numbers of its own?

A seed in the loop sets the generator back before every step: dropout leaves out the same units each time, every augmentation is
the first one, and each epoch's order is that of the epoch before. The loop's body is run again a few times, and what it calls to
seed a generator is noted: `seeded` counts those of a step, where they are given the same numbers in every step. A seed that
changes with the step gives each one numbers of its own.
"""

import contextlib
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import pick
from bugzoo.diagnostics.verdict import Suspect, Verdict
from bugzoo.rerun.body import again
from bugzoo.running.result import Run

COST = 1
SHOWN = {
    "seeded": ("calls of a step that set a generator back", "0"),
    "looked_at": ("steps looked at", ""),
}
HEALTHY = example()
SICK = example(("optimizer.zero_grad()", "optimizer.zero_grad(), torch.manual_seed(0)"))
TIMES = 3
_PLACES = ((torch, "manual_seed"), (torch.random, "manual_seed"), (np.random, "seed"), (random, "seed"))


@contextlib.contextmanager
def _seeds() -> Iterator[list[list[str]]]:
    """The numbers to which generators were set in it, for each step of an optimiser; the last list is what followed."""
    heard: list[list[str]] = [[]]
    before = [(owner, name, getattr(owner, name)) for owner, name in _PLACES]

    def listening(original: Any) -> Any:
        def seeded(*args: Any, **kwargs: Any) -> Any:
            given = [*args, *kwargs.values()]
            if given and given[0] is not None:
                heard[-1].append(str(given[0]))
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


def measure(run: Run) -> dict[str, Any]:
    """Counts. Raises NotApplicable where the loop's body cannot be run again."""
    with _seeds() as heard:
        again(run, TIMES)
    steps = heard[:-1] if heard[-1:] == [[]] else heard
    same = len(steps) > 1 and all(one == steps[0] for one in steps)
    return {"seeded": float(len(steps[0])) if same else 0.0, "looked_at": float(len(steps))}


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires where every step sets a generator to the same seed."""
    shown = pick(numbers, *SHOWN)
    if numbers["seeded"]:
        text = "every step sets a generator to the same seed, so that each one draws the same random numbers"
        return Verdict("fresh_noise", True, text, shown, (Suspect("reproducibility/seed_inside_loop", 0.9, text),))
    return Verdict("fresh_noise", False, "no step sets a generator back", shown)
