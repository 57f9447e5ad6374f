"""Does memory grow with every step, and how many computation graphs stay alive?

Resident memory is noisy in a short run, so the graphs themselves are counted. A step's autograd graph should be freed when the
step ends. Marked are the graphs of the first 40 steps, and now and then some consecutive ones. `graphs_kept` is the largest
number of these alive at once, minus those that the loop's own variables and the watch hold. 0 is usual. A list of losses, or
a running sum of tensors, keeps one graph per step. Keep numbers instead (`loss.item()`), or detach.
"""

import math
from typing import Any

import numpy as np

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, interleaved, median, need_steps, pick
from bugzoo.diagnostics.verdict import Suspect, Verdict
from bugzoo.running.result import Run

COST = 0
SHOWN = {
    "growth_mib_per_step": ("growth of memory per step (MiB)", "-2 to 2"),
    "graphs_alive": ("computation graphs alive at once", "0 to 8"),
    "steps": ("optimizer steps", ""),
}
KNOWN_PROBLEMS = (
    "A false positive where a buffer of losses is emptied every epoch: the graphs alive at once count, not memory "
    "growth. "
    "It misses memory that grows without training graphs, such as detached tensors, evaluation outputs and caches."
)
HEALTHY = example()
SICK = example(("for epoch", "losses = []\nfor epoch"), ("optimizer.step()", "optimizer.step(), losses.append(loss)"))
MANY = 8
WATCH = 5
"""Graphs per backward pass of a step that the loop's variables and the watch's snapshots of them may hold."""


def measure(run: Run) -> dict[str, Any]:
    """Graphs kept, and growth of resident memory after 30 % of the steps, in MiB per step (NaN when unknown)."""
    trace = run.trace
    steps = need_steps(run, 3)
    memory, step = column(trace.memory_mib), column(trace.step)
    known = np.flatnonzero(np.isfinite(memory)) if len(memory) == len(step) else np.zeros(0, dtype=int)
    known = known[step[known] > 0.3 * steps] if len(known) else known
    growth = float(np.polyfit(step[known], memory[known], 1)[0]) if len(known) >= 3 else math.nan
    numbers: dict[str, Any] = {"steps": float(steps), "growth_mib_per_step": growth}
    alive = float(trace.environment.get("graphs_alive", math.nan))
    players = interleaved(trace)
    backwards = max(1.0, median(trace.backwards, 1.0))
    own = WATCH * players * backwards
    numbers["marked"] = float(trace.environment.get("graphs_marked", math.nan))
    return numbers | {"graphs_alive": alive, "graphs_kept": max(0.0, alive - own) if alive == alive else math.nan}


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires when more than 5 graphs were kept, and at least eight or a fifth of the marked ones."""
    shown = pick(numbers, "graphs_kept", "growth_mib_per_step", "steps")
    kept = numbers["graphs_kept"]
    if kept > 5 and not kept < min(0.2 * numbers["marked"], MANY):
        alive = numbers["graphs_alive"]
        text = f"{alive:.0f} of {numbers['marked']:.0f} marked autograd graphs were alive at once (usually 1 or 2): "
        text += "the script keeps references to them"
        grown = numbers["growth_mib_per_step"]
        if grown > 0:
            text += f"; memory grew by {grown:.2g} MiB a step"
        suspects = (Suspect("memory/losses_kept_with_graph", 0.9, text), Suspect("memory/outputs_kept", 0.3, text))
        return Verdict("memory_audit", True, text, shown, suspects)
    text = (
        f"no graph outlives its step for long ({numbers['graphs_alive']:.0f} alive at once, the watch's included)"
        if kept == kept
        else "graphs were not counted"
    )
    return Verdict("memory_audit", False, text, shown)
