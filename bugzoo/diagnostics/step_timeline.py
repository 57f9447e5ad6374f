"""Where does the time of a step go: data, forward pass, backward pass or optimizer?

A starved model waits: most of the step passes before the forward pass begins. Shares alone mislead on tiny models,
where a millisecond of Python is half a step, so milliseconds count as well. Fixes: more workers, cheaper or cached
transforms, pinned memory. First find out which part is slow.

A machine that is busy with other programs makes everything slow. Time in which training waited for a processor is not
counted. Whether the loader's worker processes waited is unknown, so they are not suspected on a busy machine.
"""

import math
from typing import Any

import numpy as np

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, median, need_steps, pick, share
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.running.result import Run

COST = 0
SHOWN = {
    "data_ms": ("data and all else before the forward pass (ms)", ""),
    "forward_ms": ("forward pass with the loss (ms)", ""),
    "backward_ms": ("backward pass (ms)", ""),
    "step_ms": ("optimizer step (ms)", ""),
    "data_share": ("share of a step before its forward pass", "0 to 0.7"),
    "num_workers": ("worker processes of the loader", ""),
}
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
SLOW_MS = 8.0
BUSY = 0.1
"""A machine whose processors idle less than this share of the time has none left for worker processes."""


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


def measure(run: Run) -> dict[str, Any]:
    """Milliseconds (medians over the steps after the first two) and shares. Raises NotApplicable below 5 steps."""
    need_steps(run, 5)
    trace = run.trace
    parts = {name: median(column(getattr(trace, f"{name}_ms"))[2:]) for name in ("data", "forward", "backward", "step")}
    if not all(math.isfinite(value) for value in parts.values()):
        raise NotApplicable("step times were not recorded")
    total = sum(parts.values())
    numbers = {f"{name}_ms": value for name, value in parts.items()}
    numbers |= {f"{name}_share": value / total if total else 0.0 for name, value in parts.items()}
    data = column(trace.data_ms)[2:]
    data = data[np.isfinite(data)]
    everything = sum(np.nansum(column(getattr(trace, f"{name}_ms"))[2:]) for name in parts)
    numbers["data_share_of_all"] = float(data.sum() / everything) if everything else 0.0
    numbers["mean_data_ms"] = float(data.mean()) if len(data) else math.nan
    idle = trace.environment.get("idle")
    numbers["idle_share"] = float(idle) if isinstance(idle, int | float) else math.nan
    return numbers | {"num_workers": _workers(run)}


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires when more than 60 % of a step, and more than 8 ms, pass before the forward pass.

    Not for a loader with worker processes on a machine that is busy with something else.
    """
    shown = pick(numbers, "data_share", "data_ms", "forward_ms", "backward_ms", "step_ms", "num_workers")
    text = (
        f"a step takes {numbers['data_ms']:.3g} ms for data, {numbers['forward_ms']:.3g} forward, "
        f"{numbers['backward_ms']:.3g} backward, {numbers['step_ms']:.3g} optimizer"
    )
    starved = numbers["data_share"] > 0.6 and numbers["data_ms"] > SLOW_MS
    if not starved:
        return Verdict("step_timeline", False, text, shown)
    text += f": {share(numbers['data_share'])} of it passes before the forward pass (usually up to 70%)"
    workers = numbers["num_workers"]
    if workers > 0 and numbers.get("idle_share", math.nan) < BUSY:
        text += ". The machine is busy, so the worker processes may have no processor: look again when it is idle"
        return Verdict("step_timeline", False, text, shown)
    if workers == 0:
        text += ", num_workers=0"
    score = 0.75 if workers == 0 else 0.5
    return Verdict("step_timeline", True, text, shown, (Suspect("speed/starved_loader", score, text),))
