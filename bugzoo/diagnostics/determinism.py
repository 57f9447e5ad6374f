"""Run it twice: from which step on do the losses differ?

From step 1, by a lot: initial weights or the data order are not seeded. Later: a generator that is used later (numpy,
Python's random, workers) is not. By about 1e-7 from some step on: sums in another order (threads, CUDA atomics), which
no seed reaches; that is reported where it has grown to a thousandth of the loss. `first_difference` is that step, 0 for none.
"""

import math
from typing import Any

import numpy as np

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, need_steps, pick
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.script import job_of, once_more
from bugzoo.running.job import Job
from bugzoo.running.result import Run

COST = 0
RERUNS = 1
SHOWN = {
    "first_difference": ("first step at which two runs differ", "0: none"),
    "size": ("relative difference of the loss there", "0"),
    "largest": ("largest relative difference", "0"),
    "compared": ("steps compared", ""),
}
HEALTHY = example()
SICK = example(("torch.manual_seed(0)", "torch.seed()"))
NOISE = 1e-5
VISIBLE = 1e-3
"""Of the loss: from here on two runs cannot be compared any more."""


def compare(first: Any, second: Any) -> dict[str, float]:
    """First differing step (0 for none) and relative size of the difference there, of two (S,) loss curves."""
    a, b = column(first), column(second)
    shared = min(len(a), len(b))
    if not shared:
        raise NotApplicable("the second run took no step")
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


def measure(run: Run, second: Run | None = None) -> dict[str, Any]:
    """Compare with `second`, or with a second run of the source in a worker. Raises NotApplicable without source."""
    need_steps(run, 1)
    (other,) = (second,) if second is not None else again(job_of(run, "to run it a second time"))
    return compare(run.trace.loss, other.trace.loss) | {"steps": float(len(column(run.trace.step)))}


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires when two runs of the same script differ by more than rounding, or when rounding has grown to a thousandth."""
    shown = pick(numbers, "first_difference", "size", "largest", "compared")
    first = numbers["first_difference"]
    if not first:
        text = f"two runs agree to the last bit over {numbers['compared']:.0f} steps"
        return Verdict("determinism", False, text, shown)
    text = f"two runs of the same script differ from step {first:.0f} on, by {numbers['size']:.1g} of the loss"
    if not numbers.get("first_large_difference") or (first > 1 and numbers["size"] < NOISE):
        text += ": rounding in another order, no missing seed"
        largest = numbers.get("largest", 0.0)
        grown = largest > VISIBLE
        text += f", which grows to {largest:.1g} of it" if grown else ""
        suspect = Suspect("reproducibility/nondeterministic_kernel", 0.5 if grown else 0.3, text)
        return Verdict("determinism", grown, text, shown, (suspect,))
    if math.isclose(first, 1):
        text += ": what is random before it (initial weights, order of the batches) has no fixed seed"
        return Verdict("determinism", True, text, shown, (Suspect("reproducibility/unseeded", 0.55, text),))
    text += ": a generator that is first used there has no fixed seed"
    return Verdict("determinism", True, text, shown, (Suspect("reproducibility/one_generator_unseeded", 0.55, text),))
