"""Does memory grow with every step, and how many computation graphs stay alive?

Resident memory is noisy in a short run, so the graphs themselves are counted. A step's autograd graph should be freed when the
step ends. Marked are the graphs of the first 40 steps, and now and then some consecutive ones. `graphs_kept` is the largest
number of these alive at once, minus those that the loop's own variables and the watch hold. 0 is usual. A list of losses, or
a running sum of tensors, keeps one graph per step. Keep numbers instead (`loss.item()`), or detach.
"""

import math
from dataclasses import dataclass

import numpy as np

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, interleaved, median, need_steps
from bugzoo.diagnostics.conditions import Alarm, Condition, above, below, measured
from bugzoo.diagnostics.numbers import OWN, Measured, judges, number
from bugzoo.diagnostics.verdict import Suspect, Verdict
from bugzoo.running.result import Run

COST = 0
VIEW = "memory"
TITLE = "Memory"
KNOWN_PROBLEMS = (
    "A false positive where a buffer of losses is emptied every epoch: the graphs alive at once count, not memory "
    "growth. "
    "It misses memory that grows without training graphs, such as detached tensors, evaluation outputs and caches."
)
HEALTHY = example()
SICK = example(("for epoch", "losses = []\nfor epoch"), ("optimizer.step()", "optimizer.step(), losses.append(loss)"))
WATCH = 5
"""Graphs per backward pass of a step that the loop's variables and the watch's snapshots of them may hold."""


@dataclass(kw_only=True)
class Numbers(Measured):
    """Counts of graphs and steps, and MiB per step. NaN for what the watch could not see."""

    growth_mib_per_step: float = number("growth of memory per step (MiB)", (-2, 2))
    marked: float = number("steps whose computation graph was followed")
    graphs_alive: float = number("computation graphs alive at once", (0, 8))
    graphs_kept: float = number("computation graphs alive beyond the loop's variables", (0, 5))
    steps: float = number("optimizer steps", hidden=OWN)


few_graphs = below("graphs_kept", 8) & Condition(lambda numbers: numbers["graphs_kept"] < 0.2 * numbers["marked"], {})
accumulating = Alarm(
    ~few_graphs & above("graphs_kept", 5),  # of two limits of a number, the text draws the latter
    "The computation graphs were counted. {graphs_kept:.0f} of them stay alive.",
    "At most {limits[graphs_kept]:.0f} may stay alive.",
)
growing = Alarm(
    measured("growth_mib_per_step") & accumulating.when,
    "The memory was measured at each step. It grows by {growth_mib_per_step:.3g} MiB a step, and {graphs_kept:.0f} "
    "graphs stay alive.",
    "At most {limits[graphs_kept]:.0f} graphs may stay alive.",
)
ALARMS = (growing, accumulating)


def measure(run: Run) -> Numbers:
    """Graphs kept, and growth of resident memory after 30 % of the steps, in MiB per step (NaN when unknown)."""
    trace = run.trace
    steps = need_steps(run, 3)
    memory, step = column(trace.memory_mib), column(trace.step)
    places = np.flatnonzero(np.isfinite(memory)) if len(memory) == len(step) else np.zeros(0, dtype=int)
    places = places[step[places] > 0.3 * steps]
    alive = float(trace.environment.get("graphs_alive", math.nan))
    usual = WATCH * interleaved(trace) * max(1.0, median(trace.backwards, 1.0))
    return Numbers(
        growth_mib_per_step=float(np.polyfit(step[places], memory[places], 1)[0]) if len(places) >= 3 else math.nan,
        marked=float(trace.environment.get("graphs_marked", math.nan)),
        graphs_alive=alive,
        graphs_kept=alive if math.isnan(alive) else max(0.0, alive - usual),
        steps=float(steps),
    )


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires when more than 5 graphs were kept, and at least eight or a fifth of the marked ones."""
    beyond, alive = numbers.graphs_kept, numbers.graphs_alive
    suspects: tuple[Suspect, ...] = ()
    if accumulating(numbers):
        text = f"{alive:.0f} of {numbers.marked:.0f} marked autograd graphs were alive at once "
        text += f"(usually {Numbers.usual('graphs_alive')}): the script keeps references to them"
        if numbers.growth_mib_per_step > 0:
            text += f"; memory grew by {numbers.growth_mib_per_step:.2g} MiB a step"
        suspects = (Suspect("memory/losses_kept_with_graph", 0.9, text), Suspect("memory/outputs_kept", 0.3, text))
    elif math.isnan(beyond):
        text = "graphs were not counted"
    else:
        text = f"no graph outlives its step for long ({alive:.0f} alive at once, the watch's included)"
    return Verdict("memory_audit", bool(suspects), text, numbers.labeled(), suspects)
