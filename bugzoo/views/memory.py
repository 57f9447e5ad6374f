"""How much memory does each step hold, and what keeps it?

To the left: memory over the steps, resident on a CPU and allocated on a GPU. To the right, above: computation graphs that
were alive at once, and forward passes whose activations are still there at the end. Below: the size of each part of a
step. Activations are counted on a few samples and multiplied up to one batch.
"""

import contextlib
from typing import Any

import numpy as np

from bugzoo.diagnostics._tools import column
from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.running.result import Run
from bugzoo.views import _bars, _draw, _sizes
from bugzoo.views.row import ANY, Row

ROWS = (
    Row("steps", "optimizer steps made"),
    Row("steps_that_fit", "steps made before an allocation failed", (1, ANY)),
    Row("first_mib", "memory at the first measured step (MiB)"),
    Row("last_mib", "memory at the last measured step (MiB)"),
    Row("peak_mib", "most resident memory of the process (MiB)"),
    Row("memory_audit.growth_mib_per_step", "growth of memory per step (MiB)", (-2, 2)),
    Row("memory_audit.marked", "steps whose computation graph was followed"),
    Row("memory_audit.graphs_alive", "computation graphs alive at once", (0, 8)),
    Row("memory_audit.graphs_kept", "computation graphs alive beyond the loop's variables", (0, 5)),
    Row("retained_graphs.passes", "forward passes with activations alive at the end", (0, 1)),
    Row("retained_graphs.held_mib", "activations alive at the end (MiB)"),
    Row("retain_graph.kept_share", "share of operations with activations after backward()", (0, 0.5)),
    Row("retain_graph.kept_mib", "activations alive after backward() (MiB)"),
    Row("parameters_mib", "parameters (MiB)"),
    Row("gradients_mib", "gradients of all trainable parameters (MiB)"),
    Row("optimizer_mib", "optimizer state after a step (MiB)"),
    Row("activations_mib", "activations of one batch, kept for backward() (MiB)"),
    Row("samples", "samples in that batch"),
)
COUNTS = {
    "graphs alive at once": "memory_audit.graphs_alive",
    "forward passes alive\nat the end": "retained_graphs.passes",
}
SIZES = {
    "parameters": "parameters_mib",
    "gradients": "gradients_mib",
    "optimizer state": "optimizer_mib",
    "activations of a batch": "activations_mib",
    "alive after backward()": "retain_graph.kept_mib",
    "alive at the end": "retained_graphs.held_mib",
}
RANGE_MIB = 50.0
"""Least height of the memory axis: a process grows and shrinks by some MiB for many reasons."""
MOST = 150
"""Points of the curve."""


def measure(run: Run) -> dict[str, Any]:
    """Memory over the steps, and the size of what a step holds. Raises NotApplicable if neither is known."""
    steps, memory = column(run.trace.step), column(run.trace.memory_mib)
    known = np.flatnonzero(np.isfinite(memory)) if len(memory) == len(steps) else np.zeros(0, dtype=int)
    numbers: dict[str, Any] = {"steps": float(len(steps))}
    if run.outcome == "out_of_memory":
        numbers["steps_that_fit"] = float(len(steps))
    if len(known):
        shown = known[:: -(-len(known) // MOST)]
        numbers |= {"first_mib": float(memory[known[0]]), "last_mib": float(memory[known[-1]])}
        numbers |= {"at": steps[shown].tolist(), "memory": memory[shown].tolist()}
    with contextlib.suppress(NotApplicable):
        numbers |= _sizes.parts(run)
    if len(numbers) == 1:  # the steps alone
        raise NotApplicable("memory was not recorded, and no model is alive")
    return numbers


def draw(numbers: dict[str, Any], figure: Any) -> None:
    """Draw the curve, the counts and the sizes."""
    figure.set_size_inches(7.0, 3.2)
    grid = figure.add_gridspec(2, 2, width_ratios=(1, 1.1), height_ratios=(1, 2.4))
    ax = figure.add_subplot(grid[:, 0])
    _draw.prepare(ax, "", "optimizer step", "memory (MiB)")
    if numbers.get("memory") and _draw.line(ax, numbers["at"], numbers["memory"], place=1):
        low, high = min(numbers["memory"]), max(numbers["memory"])
        spare = max(0.0, RANGE_MIB - (high - low)) / 2 + 2
        ax.set_ylim(max(0.0, low - spare), high + spare)
    else:
        _draw.absent(ax, "no step was made whose\nmemory was measured")
    counts, sizes = figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, 1])
    usual = {name: row.range[1] for row in ROWS for name, key in COUNTS.items() if row.source == key and row.range}
    for ax, sources, unit, least in ((counts, COUNTS, "count", 10), (sizes, SIZES, "MiB", 1)):
        _draw.prepare(ax, "", unit)
        if not _bars.bars(ax, _bars.known(numbers, sources), least, 1, usual if ax is counts else None):
            _draw.absent(ax, "not counted")
