"""From which step on do two runs of the same script differ?

From step 1, by a lot: the initial weights or the data order are not seeded. Later: a generator that is first used there (numpy,
Python's random, workers) is not seeded. By about 1e-7 from some step on: sums in another order (threads, CUDA atomics), which no
seed controls. That raises an alarm if it grows to a thousandth of the loss. `first_difference` is that step, 0 without any.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, need_steps
from bugzoo.diagnostics.conditions import Alarm, above, below
from bugzoo.diagnostics.numbers import Measured, judges, number
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.script import job_of, once_more
from bugzoo.running.job import Job
from bugzoo.running.result import Run

COST = 0
VIEW = "repeat"
TITLE = "A second run"
RERUNS = 1
KNOWN_PROBLEMS = (
    "A false positive for a script that leaves its seed open on purpose, or whose batches depend on the timing of threads. "
    "It compares only losses of training steps, so a random evaluation and the order of sets in a fresh process stay "
    "unseen."
)
HEALTHY = example()
SICK = example(("torch.manual_seed(0)", "torch.seed()"))
NOISE = 1e-5
"""A difference below this share of the loss is rounding."""


@dataclass(kw_only=True)
class Numbers(Measured):
    """Steps, counted from 1, and differences as shares of the loss."""

    compared: float = number("steps compared with a second run of the script")
    first_difference: float = number("first step whose loss differs (0: none)", (0, 0))
    size: float = number("relative difference of the loss, first step that differs", (0, 1e-5))
    largest: float = number("largest relative difference of the loss", (0, 0.001))
    first_large_difference: float | None = None
    steps: float


rounding = ~above("first_large_difference") | (above("first_difference", 1) & below("size", NOISE))
visible = above("largest", 1e-3)
"""Beyond this share of the loss two runs can no longer be compared."""
differs = Alarm(
    above("first_difference") & (visible | ~rounding),
    "The script ran 2 times with the same seed. The losses differ from step {first_difference:.0f} on, by {size:.2g} "
    "of the loss.",
    "They should be equal, up to rounding.",
)
ALARMS = (differs,)


def compare(first: Any, second: Any) -> dict[str, float]:
    """First differing step (0 for none) and relative size of the difference there, of two (S,) loss curves."""
    a, b = column(first), column(second)
    shared = min(len(a), len(b))
    if not shared:
        raise NotApplicable("the second run took no optimizer step")
    same = (a[:shared] == b[:shared]) | (np.isnan(a[:shared]) & np.isnan(b[:shared]))
    different = np.flatnonzero(~same)
    if not len(different):
        return {"first_difference": 0.0, "size": 0.0, "largest": 0.0, "compared": float(shared)}
    gap = np.abs(a[:shared] - b[:shared]) / (np.abs(a[:shared]) + 1e-12)
    beyond = np.flatnonzero(~same & ~(gap < NOISE))
    return {
        "first_difference": float(different[0] + 1),
        "first_large_difference": float(beyond[0] + 1) if len(beyond) else 0.0,
        "size": float(gap[different[0]]),
        "largest": float(np.nanmax(gap)),
        "compared": float(shared),
    }


def again(job: Job) -> tuple[Run, ...]:
    """The same script once more."""
    return once_more(job)


def measure(run: Run, second: Run | None = None) -> Numbers:
    """Compare with `second`, or with a second run of the source in a worker. Raises NotApplicable without source."""
    need_steps(run, 1)
    (other,) = (second,) if second is not None else again(job_of(run, "to run it a second time"))
    return Numbers(**compare(run.trace.loss, other.trace.loss), steps=float(len(column(run.trace.step))))


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires if two runs of the same script differ by more than rounding, or if rounding has grown to a thousandth."""
    first = numbers.first_difference
    suspects: tuple[Suspect, ...] = ()
    fired = differs(numbers)
    text = f"two runs of the same script differ from step {first:.0f} on, by {numbers.size:.1g} of the loss"
    if not first:
        text = f"two runs agree to the last bit over {numbers.compared:.0f} steps"
    elif rounding(numbers):
        text += ". It is rounding in another order, not a missing seed"
        text += f", and grows to {numbers.largest:.1g} of the loss" if fired else ""
        suspects = (Suspect("reproducibility/nondeterministic_kernel", 0.5 if fired else 0.3, text),)
    elif math.isclose(first, 1):
        text += ". Random numbers before it (initial weights, batch order) have no fixed seed"
        suspects = (Suspect("reproducibility/unseeded", 0.75, text),)
    else:
        text += ": a generator first used there has no fixed seed"
        suspects = (Suspect("reproducibility/one_generator_unseeded", 0.75, text),)
    return Verdict("determinism", fired, text, numbers.labeled(), suspects)
