"""How much memory does each step hold, and what keeps it?

To the left: memory over the steps, resident on a CPU and allocated on a GPU. To the right, above: computation graphs that
were alive at once, and forward passes whose activations are still there at the end. Below: the size of each part of a
step. Activations are counted on a few samples and multiplied up to one batch.
"""

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from bugzoo.diagnostics._tools import column
from bugzoo.diagnostics.numbers import ANY, optional
from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.running.result import Run
from bugzoo.views import _bars, _draw, _sizes, rows
from bugzoo.views._seen import Seen

ORDER = (
    "steps", "steps_that_fit", "first_mib", "last_mib", "peak_mib", "memory_audit", "retained_graphs", "retain_graph",
    "parameters_mib", "gradients_mib", "optimizer_mib", "activations_mib", "samples",
)  # fmt: skip
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


@dataclass(kw_only=True)
class Numbers(Seen):
    """Sizes in MiB, and the curve of the memory over the steps."""

    steps: float | None = optional("optimizer steps made")
    steps_that_fit: float | None = optional("steps made before an allocation failed", (1, ANY))
    first_mib: float | None = optional("memory at the first measured step (MiB)")
    last_mib: float | None = optional("memory at the last measured step (MiB)")
    peak_mib: float | None = optional("most resident memory of the process (MiB)")
    parameters_mib: float | None = optional("parameters (MiB)")
    gradients_mib: float | None = optional("gradients of all trainable parameters (MiB)")
    optimizer_mib: float | None = optional("optimizer state after a step (MiB)")
    activations_mib: float | None = optional("activations of one batch, kept for backward() (MiB)")
    samples: float | None = optional("samples in that batch")
    at: list[float] | None = None
    memory: list[float] | None = None


def measure(run: Run) -> Numbers:
    """Memory over the steps, and the size of what a step holds. Raises NotApplicable if neither is known."""
    steps, memory = column(run.trace.step), column(run.trace.memory_mib)
    recorded = np.flatnonzero(np.isfinite(memory)) if len(memory) == len(steps) else np.zeros(0, dtype=int)
    sizes: dict[str, float] = {}
    with contextlib.suppress(NotApplicable):
        sizes = _sizes.parts(run)
    if not len(recorded) and not sizes and run.outcome != "out_of_memory":
        raise NotApplicable("memory was not recorded, and no model is alive")
    numbers = Numbers.from_mapping({"steps": float(len(steps)), **sizes})
    if run.outcome == "out_of_memory":
        numbers.steps_that_fit = float(len(steps))
    if len(recorded):
        sample = recorded[:: -(-len(recorded) // MOST)]
        numbers.first_mib, numbers.last_mib = float(memory[recorded[0]]), float(memory[recorded[-1]])
        numbers.at, numbers.memory = steps[sample].tolist(), memory[sample].tolist()
    return numbers


def draw(numbers: Numbers, figure: Any) -> None:
    """Draw the curve, the counts and the sizes."""
    figure.set_size_inches(7.0, 3.2)
    grid = figure.add_gridspec(2, 2, width_ratios=(1, 1.1), height_ratios=(1, 2.4))
    ax = figure.add_subplot(grid[:, 0])
    _draw.prepare(ax, "", "optimizer step", "memory (MiB)")
    if numbers.memory and numbers.at and _draw.line(ax, numbers.at, numbers.memory):
        low, high = min(numbers.memory), max(numbers.memory)
        spare = max(0.0, RANGE_MIB - (high - low)) / 2 + 2
        ax.set_ylim(max(0.0, low - spare), high + spare)
    else:
        _draw.absent(ax, "no step was made whose\nmemory was measured")
    counts, sizes = figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, 1])
    ends = {row.source: row.range[1] for row in rows("memory") if row.range}
    usual = {name: ends[key] for name, key in COUNTS.items() if key in ends}
    for ax, sources, unit, least in ((counts, COUNTS, "count", 10), (sizes, SIZES, "MiB", 1)):
        _draw.prepare(ax, "", unit)
        if not _bars.bars(ax, _bars.known(numbers.measured(), sources), least, usual if ax is counts else None):
            _draw.absent(ax, "not counted")
