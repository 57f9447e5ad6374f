"""What does each module put out: which shape, which spread, how many zeros?

One row a module in the order of the calls, with the shape of its output; a function such as relu() has a row of its own.
To the left is the standard deviation of its outputs, to the right the share of outputs that are exactly zero, within
0.03 of the bounds of a tanh or sigmoid, or not finite. If a forward pass crashed, the rows end where it did, and the axes
show the shapes alone.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bugzoo.diagnostics.numbers import optional
from bugzoo.running.result import Run
from bugzoo.views import _draw, _endings, _module_calls
from bugzoo.views._seen import Seen

MOST = 30
"""Rows that fit into the picture."""

ORDER = (
    "calls", "shape_trace", "activation_stats", "batch_statistics", "not_finite_steps", "not_finite_modules",
    "first_non_finite", "errors", "crash", "part", "failed", "failed_given", "failed_weights", "devices", "placed",
)  # fmt: skip


@dataclass(kw_only=True)
class Numbers(Seen):
    """What ended the run, and for each row of the picture a name, a shape, two standard deviations and three shares."""

    calls: float | None = optional("modules and functions in a call of the model")
    not_finite_steps: float | None = optional("steps whose loss or gradient is not finite", (0, 0))
    not_finite_modules: float | None = optional("modules whose output was not finite at a measured step", (0, 0))
    errors: float | None = optional("errors that ended the run", (0, 0))
    part: str | None = optional("part of the step in which it was raised")
    failed: str | None = optional("module in which it was raised")
    failed_given: str | None = optional("input of that module")
    failed_weights: str | None = optional("parameters of that module")
    devices: float | None = optional("devices with tensors of the model or of the failing line", (1, 1))
    placed: str | None = optional("tensors on them")
    names: list[str] | None = None
    shapes: list[list[int]] | None = None
    first: list[float] | None = None
    std: list[float] | None = None
    zeros: list[float] | None = None
    bounds: list[float] | None = None
    not_finite: list[float] | None = None


def measure(run: Run) -> Numbers:
    """One entry a row of the picture, and what ended the run. Parts that are not known are left out."""
    run.trace.explain()
    entries = _module_calls.before_crash(run) or _module_calls.called(run) or _module_calls.recorded(run)
    entries = _module_calls.with_first(run, entries)
    chosen = _chosen(entries)
    stats = np.asarray(run.trace.module_stats, dtype=np.float64)
    numbers = Numbers(
        calls=float(len(entries)) or math.nan,
        not_finite_steps=float(len(_endings.not_finite(run.trace))),
        errors=float(run.trace.outcome in ("crashed", "out_of_memory")),
        names=[entry.name for entry in chosen],
        shapes=[list(entry.shape) for entry in chosen],
        first=[entry.first for entry in chosen],
        std=[entry.std for entry in chosen],
        zeros=[entry.zeros for entry in chosen],
        bounds=[entry.bounds for entry in chosen],
        not_finite=[entry.not_finite for entry in chosen],
    )
    if stats.ndim == 3 and stats.size:
        numbers.not_finite_modules = float((np.nan_to_num(stats[:, :, 4]) > 0).any(0).sum())
    if numbers.errors:
        _endings.add_failure(numbers, run)
    return numbers


def _chosen(entries: list[_module_calls.Entry]) -> list[_module_calls.Entry]:
    """Return the entries that fit into the picture: first those that change the shape."""
    last = len(entries) - 1
    changed = [at for at in range(last + 1) if at in (0, last) or entries[at].shape != entries[at - 1].shape]
    rest = [at for at in range(last + 1) if at not in changed]
    return [entries[at] for at in sorted([*changed, *rest][:MOST])]


def draw(numbers: Numbers, figure: Any) -> None:
    """Draw a row for each module: spreads to the left, shares to the right; shapes where nothing was measured."""
    names, shapes = numbers.names or [], numbers.shapes or []
    if not names:
        _draw.absent(figure.subplots(), "no module was called")
        return
    figure.set_size_inches(7.0, 1.1 + 0.17 * max(6, len(names)))
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(1.2, 1.0))
    spreads = {"first measured step": numbers.first or [], "after training": numbers.std or []}
    values = [value for spread in spreads.values() for value in spread if math.isfinite(value) and value > 0]
    if values:
        labels = "standard deviation of the output", "share of the outputs"
        for place, (label, spread) in enumerate(spreads.items()):
            _points(left, [value if value > 0 else math.nan for value in spread], label, place)
        not_finite = numbers.not_finite if any(value > 0 for value in numbers.not_finite or ()) else None
        shares = {"exactly 0": numbers.zeros, "at the bounds": numbers.bounds, "not finite": not_finite}
        for place, (label, share) in enumerate(shares.items()):
            _points(right, share or [], label, place)
        right.set_xlim(-0.04, 1.04)
    else:
        labels = "first axis of the output", "other axes, multiplied"
        values = [float(shape[0]) for shape in shapes if shape]
        _points(left, [float(shape[0]) if shape else math.nan for shape in shapes], "", 0)
        _points(right, sizes := [float(math.prod(shape[1:])) if shape else math.nan for shape in shapes], "", 1)
        right.set_xlim(0, 1.1 * max([1.0, *(size for size in sizes if math.isfinite(size))]))
    if values:
        left.set_xscale("log")
        left.set_xlim(min(min(values) / 2, max(values) / 500), max(max(values) * 2, min(values) * 500))
    calls = numbers.calls or 0.0
    part = f" ({len(names)} of {calls:.0f} modules)" if len(names) < calls else ""
    rows = zip(names, shapes, strict=True)
    ticks = [f"{name} {tuple(shape) if shape else ''}".replace(",)", ")").strip() for name, shape in rows]
    left.set_yticks(range(len(names)), ticks)
    left.set_ylim(len(names) - 0.4, -0.6)
    for ax, label in zip((left, right), (labels[0] + part, labels[1]), strict=True):
        _draw.prepare(ax, "", label)
        ax.grid(axis="y", color=_draw.INK, alpha=0.25, linewidth=0.5)
        _draw.legend(ax)


def _points(ax: Any, values: list[float], label: str, place: int) -> None:
    """Draw one point a row; of several series the later ones are smaller or hollow."""
    points = [(value, at) for at, value in enumerate(values) if math.isfinite(value)]
    if points:
        ax.plot(
            *zip(*points, strict=True), "os^"[place], color=_draw.COLORS[place], label=label or None, markersize=6 - place,
            fillstyle="none" if place else "full", clip_on=False,
        )  # fmt: skip
