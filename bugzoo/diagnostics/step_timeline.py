"""Where does the time of a step go: data, forward pass, backward pass or optimizer?

A starved model waits: most of the step passes before the forward pass begins. Shares alone mislead on tiny models,
where a millisecond of Python is half a step, so milliseconds count as well. Fixes: more workers, cheaper or cached
transforms, pinned memory. First find out which part is slow.

A machine that is busy with other programs makes everything slow. Time in which training waited for a processor is not
counted. Whether the loader's worker processes waited is unknown, so they are not suspected on a busy machine.
"""

import math
from dataclasses import dataclass

import numpy as np

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, median, need_steps, share
from bugzoo.diagnostics.conditions import Alarm, above, below
from bugzoo.diagnostics.numbers import Measured, judges, number
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.running.result import Run

COST = 0
VIEW = "time"
TITLE = "Time of a step"
KNOWN_PROBLEMS = (
    "A false positive for a transform on the device that runs before the model is called. "
    "It misses waits below 8 ms or in fewer than half of the steps, and loaders with workers on a busy machine."
)
HEALTHY = example()
SICK = example(
    ("import torch\nimport", "import time\n\nimport torch\nimport"),
    ("optimizer.zero", "time.sleep(0.02), optimizer.zero"),
)
TIMED = True


@dataclass(kw_only=True)
class Numbers(Measured):
    """Medians over the steps in ms, and shares between 0 and 1. NaN for what is unknown."""

    data_ms: float = number("data and all else before the forward pass (ms)")
    forward_ms: float = number("forward pass with the loss (ms)")
    backward_ms: float = number("backward pass (ms)")
    step_ms: float = number("optimizer step (ms)")
    data_share: float = number("share of a step before its forward pass", (0, 0.7))
    num_workers: float = number("worker processes of the loader")
    idle_share: float = number("share of the processors' time that was idle")
    forward_share: float
    backward_share: float
    step_share: float
    data_share_of_all: float
    mean_data_ms: float


late = above("data_share", 0.6) & above("data_ms", 8)
busy = above("num_workers") & below("idle_share", 0.1)
"""Processors that idle so little have no time left for worker processes."""
waits = Alarm(
    late & ~busy,
    "The time of a step was measured. {data_ms:.3g} ms, {data_share:.0%} of it, pass before the forward pass begins.",
    "At most {limits[data_share]:.0%} passes, or {limits[data_ms]:.0f} ms.",
)
ALARMS = (waits,)


def _workers(run: Run) -> float:
    """The largest num_workers of the script's DataLoaders; NaN without one."""
    from torch.utils.data import DataLoader

    live = getattr(run.trace, "live", None)
    values = list(getattr(live, "namespace", {}).values()) if live else []
    for value in list(values):
        if hasattr(value, "__dict__") and not isinstance(value, type):
            values += list(vars(value).values())[:50]
    loaders = [value for value in values if isinstance(value, DataLoader)]
    return float(max(loader.num_workers for loader in loaders)) if loaders else math.nan


def measure(run: Run) -> Numbers:
    """Milliseconds (medians over the steps after the first two) and shares. Raises NotApplicable below 5 steps."""
    need_steps(run, 5)
    times = {name: column(getattr(run.trace, f"{name}_ms"))[2:] for name in ("data", "forward", "backward", "step")}
    parts = {name: median(values) for name, values in times.items()}
    if not all(math.isfinite(value) for value in parts.values()):
        raise NotApplicable("step times were not recorded")
    total, everything = sum(parts.values()), sum(np.nansum(values) for values in times.values())
    numbers = {f"{name}_ms": value for name, value in parts.items()}
    numbers |= {f"{name}_share": value / total if total else 0.0 for name, value in parts.items()}
    data = times["data"][np.isfinite(times["data"])]
    idle = run.trace.environment.get("idle")
    return Numbers(
        **numbers,
        data_share_of_all=float(data.sum() / everything) if everything else 0.0,
        mean_data_ms=float(data.mean()),
        idle_share=float(idle) if isinstance(idle, int | float) else math.nan,
        num_workers=_workers(run),
    )


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires when most of a step, and more than a few milliseconds, pass before the forward pass.

    Not for a loader with worker processes on a machine that is busy with something else.
    """
    text = (
        f"a step takes {numbers.data_ms:.3g} ms for data, {numbers.forward_ms:.3g} forward, "
        f"{numbers.backward_ms:.3g} backward, {numbers.step_ms:.3g} optimizer"
    )
    suspects: tuple[Suspect, ...] = ()
    if late(numbers):
        text += f": {share(numbers.data_share)} of it passes before the forward pass"
        text += f" (usually {Numbers.usual('data_share')})"
    if waits(numbers):
        alone = numbers.num_workers == 0
        text += ", num_workers=0" if alone else ""
        suspects = (Suspect("speed/starved_loader", 0.75 if alone else 0.5, text),)
    elif late(numbers):
        text += ". The machine is busy, so the worker processes may have no processor: look again when it is idle"
    return Verdict("step_timeline", bool(suspects), text, numbers.labeled(), suspects)
