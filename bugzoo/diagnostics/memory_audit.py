"""Does memory grow with every step, and what holds on to it?

Resident memory is a noisy witness in a short run, so the graphs themselves are counted: a step's autograd graph should
die when the step is over. `graphs_kept` is the largest number of earlier steps' graphs that were alive at once; one or
two is usual, and a list of losses keeps as many as there are steps. Keep numbers instead (`loss.item()`), or detach.
"""

import gc
import math
import warnings
from typing import Any

import numpy as np
import torch

from bugzoo.diagnostics._tools import column, need_steps, pick
from bugzoo.diagnostics.verdict import Suspect, Verdict

COST = 0


def _live_graphs() -> tuple[int, int, float]:
    """(separate autograd graphs held by living tensors, how many of these tensors are scalars, MiB of the others)."""
    held = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for thing in gc.get_objects():
            try:
                if type(thing) is torch.Tensor and thing.grad_fn is not None:
                    held.append(thing)
            except Exception:
                continue
    owner: dict[Any, int] = {}
    separate = 0
    for index, tensor in enumerate(held):
        stack, joined, mine = [tensor.grad_fn], False, []
        while stack and len(mine) < 5000:
            node = stack.pop()
            if node is None or node.name().endswith("AccumulateGrad"):
                continue
            if node in owner:
                joined = joined or owner[node] != index
                continue
            owner[node] = index
            mine.append(node)
            stack.extend(parent for parent, _ in node.next_functions)
        separate += not joined
    scalars = sum(tensor.numel() == 1 for tensor in held)
    size = sum(tensor.numel() * tensor.element_size() for tensor in held if tensor.numel() > 1) / 2**20
    return separate, scalars, size


def measure(run: Any) -> dict[str, Any]:
    """Graphs kept, and MiB that resident memory grows by per step in the second half of the run (NaN when unknown)."""
    trace = run.trace
    steps = need_steps(run, 3)
    memory, step = column(trace.memory_mib), column(trace.step)
    known = np.flatnonzero(np.isfinite(memory)) if len(memory) == len(step) else np.zeros(0, dtype=int)
    known = known[step[known] > 0.3 * steps] if len(known) else known
    growth = float(np.polyfit(step[known], memory[known], 1)[0]) if len(known) >= 3 else math.nan
    numbers: dict[str, Any] = {"steps": float(steps), "growth_mib_per_step": growth}
    counted = trace.environment.get("graphs_alive")
    if counted is not None:
        numbers["graphs_kept"] = float(counted)
    if getattr(trace, "live", None) is not None:
        separate, scalars, size = _live_graphs()
        numbers["graphs_kept"] = max(float(separate), numbers.get("graphs_kept", 0.0))
        numbers |= {"scalars_kept": float(scalars), "kept_mib": size}
    numbers.setdefault("graphs_kept", math.nan)
    return numbers


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires when more than 5 graphs, and at least one for each ten steps, were alive at once."""
    shown = pick(numbers, "graphs_kept", "growth_mib_per_step", "scalars_kept", "steps")
    kept, steps = numbers["graphs_kept"], numbers["steps"]
    if kept > 5 and kept >= 0.1 * steps:
        text = f"the autograd graphs of {kept:.0f} steps were alive at once (usual: 1 or 2)"
        grown = numbers["growth_mib_per_step"]
        if grown > 0:
            text += f"; resident memory grew by {grown:.2g} MiB a step"
        scalar = numbers.get("scalars_kept", kept) >= 0.5 * kept or not numbers.get("kept_mib")
        causes = ["memory/losses_kept_with_graph", "memory/outputs_kept"]
        first, second = causes if scalar else causes[::-1]
        return Verdict("memory_audit", True, text, shown, (Suspect(first, 0.9, text), Suspect(second, 0.35, text)))
    text = (
        f"no graph outlives its step for long ({kept:.0f} alive at once)" if kept == kept else "graphs were not counted"
    )
    return Verdict("memory_audit", False, text, shown)
