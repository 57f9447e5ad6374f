"""What does each module put out: which shape, which spread, how many zeros?

One row a module in the order of the calls, with the shape of its output; a function such as relu() has a row of its own.
To the left is the standard deviation of its outputs, to the right the share of outputs that are exactly zero, within
0.03 of the bounds of a tanh or sigmoid, or not finite. If a forward pass crashed, the rows end where it did, and the axes
show the shapes alone.
"""

import math
from typing import Any

import numpy as np

from bugzoo.running.result import Run
from bugzoo.views import _draw, _endings, _module_calls
from bugzoo.views.row import ANY, Row

MOST = 30
"""Rows that fit into the picture."""
SHARES = {"zeros": "exactly 0", "bounds": "at the bounds", "not_finite": "not finite"}

ROWS = (
    Row("calls", "modules and functions in a call of the model"),
    Row("shape_trace.samples_in", "first axis of the input"),
    Row("shape_trace.samples_out", "first axis of the output", "that of the input"),
    Row("shape_trace.changed_at", "first module call that changes the first axis, 0 for none", (0, 0)),
    Row("shape_trace.answer_axes", "axes of the output"),
    Row("shape_trace.target_axes", "axes of the targets"),
    Row("activation_stats.growth", "spread of the last layer over the first, first step", (0.01, 10)),
    Row("activation_stats.inner_growth", "spread of the second-last layer over the first, first step", (0.01, 10)),
    Row("activation_stats.samples", "samples in the kept batches"),
    Row("activation_stats.dead_share", "share of ReLU units that are 0 for every sample", (0, 0.75)),
    Row(
        "activation_stats.worst_dead_share", "share of ReLU units that are 0 for every sample, worst module", (0, 0.75)
    ),
    Row("activation_stats.saturated_share", "share of tanh and sigmoid outputs at their bounds", (0, 0.5)),
    Row("batch_statistics.rows", "samples that a BatchNorm layer averages over", (4, ANY)),
    Row("batch_statistics.values", "values per channel that a BatchNorm layer averages over", (8, ANY)),
    Row("batch_statistics.scatter", "log ratio of batch to running variances (RMS)", (0, 0.3)),
    Row("not_finite_steps", "steps whose loss or gradient is not finite", (0, 0)),
    Row("not_finite_modules", "modules whose output was not finite at a measured step", (0, 0)),
    Row("first_non_finite.step", "first step with a number that is not finite"),
    Row("first_non_finite.module", "module with the first number that is not finite"),
    Row("first_non_finite.direction", "pass with the first number that is not finite"),
    Row("errors", "errors that ended the run", (0, 0)),
    Row("crash.type", "type of the error"),
    Row("crash.steps", "optimizer steps before the error"),
    Row("part", "part of the step in which it was raised"),
    Row("failed", "module in which it was raised"),
    Row("failed_given", "input of that module"),
    Row("failed_weights", "parameters of that module"),
    Row("devices", "devices with tensors of the model or of the failing line", (1, 1)),
    Row("placed", "tensors on them"),
)


def measure(run: Run) -> dict[str, Any]:
    """One entry a row of the picture, and what ended the run. Parts that are not known are left out."""
    run.trace.explain()
    entries = _module_calls.with_first(
        run, _module_calls.before_crash(run) or _module_calls.called(run) or _module_calls.recorded(run)
    )
    shown = _chosen(entries)
    stats = np.asarray(run.trace.module_stats, dtype=np.float64)
    numbers: dict[str, Any] = {
        "calls": float(len(entries)) or math.nan,
        "names": [one.name for one in shown],
        "shapes": [list(one.shape) for one in shown],
        "not_finite_steps": float(len(_endings.not_finite(run.trace))),
        "errors": float(run.trace.outcome in ("crashed", "out_of_memory")),
    }
    numbers |= {key: [getattr(one, key) for one in shown] for key in ("first", "std", *SHARES)}
    if stats.ndim == 3 and stats.size:
        numbers["not_finite_modules"] = float((np.nan_to_num(stats[:, :, 4]) > 0).any(0).sum())
    return numbers | (_endings.failure(run) if numbers["errors"] else {})


def _chosen(entries: list[_module_calls.Entry]) -> list[_module_calls.Entry]:
    """Return the entries that fit into the picture: first those that change the shape."""
    last = len(entries) - 1
    changed = [at for at in range(last + 1) if at in (0, last) or entries[at].shape != entries[at - 1].shape]
    rest = [at for at in range(last + 1) if at not in changed]
    return [entries[at] for at in sorted([*changed, *rest][:MOST])]


def draw(numbers: dict[str, Any], figure: Any) -> None:
    """Draw a row for each module: spreads to the left, shares to the right; shapes where nothing was measured."""
    names, shapes = numbers.get("names", []), numbers.get("shapes", [])
    if not names:
        _draw.absent(figure.subplots(), "no module was called")
        return
    figure.set_size_inches(7.0, 1.1 + 0.17 * max(6, len(names)))
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(1.2, 1.0))
    values = [one for key in ("first", "std") for one in numbers.get(key, []) if math.isfinite(one) and one > 0]
    if values:
        labels = "standard deviation of the output", "share of the outputs"
        for place, (key, label) in enumerate((("first", "first measured step"), ("std", "after training"))):
            _points(left, [one if one > 0 else math.nan for one in numbers[key]], label, place)
        for place, (key, label) in enumerate(SHARES.items()):
            hidden = key == "not_finite" and not any(one > 0 for one in numbers[key])
            _points(right, [] if hidden else numbers[key], label, place)
        right.set_xlim(-0.04, 1.04)
    else:
        labels = "first axis of the output", "other axes, multiplied"
        values = [float(shape[0]) for shape in shapes if shape]
        _points(left, [float(shape[0]) if shape else math.nan for shape in shapes], "", 0)
        _points(right, sizes := [float(math.prod(shape[1:])) if shape else math.nan for shape in shapes], "", 1)
        right.set_xlim(0, 1.1 * max([1.0, *(one for one in sizes if math.isfinite(one))]))
    if values:
        left.set_xscale("log")
        left.set_xlim(min(min(values) / 2, max(values) / 500), max(max(values) * 2, min(values) * 500))
    part = f" ({len(names)} of {numbers['calls']:.0f} modules)" if len(names) < numbers.get("calls", 0) else ""
    ticks = [
        f"{name} {tuple(shape) if shape else ''}".replace(",)", ")").strip()
        for name, shape in zip(names, shapes, strict=True)
    ]
    left.set_yticks(range(len(names)), ticks, fontsize=7, color=_draw.GREY)
    left.set_ylim(len(names) - 0.4, -0.6)
    for ax, label in zip((left, right), (labels[0] + part, labels[1]), strict=True):
        _draw.prepare(ax, "", label)
        ax.grid(axis="y", color=_draw.GREY, alpha=0.25, linewidth=0.5)
        if ax.get_legend_handles_labels()[0]:
            ax.legend(
                frameon=False, labelcolor=_draw.GREY, fontsize=7, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3,
                columnspacing=1.0, handletextpad=0.3,
            )  # fmt: skip


def _points(ax: Any, values: list[float], label: str, place: int) -> None:
    """Draw one point a row; of several series the later ones are smaller or hollow."""
    found = [(value, at) for at, value in enumerate(values) if math.isfinite(value)]
    if found:
        ax.plot(
            *zip(*found, strict=True), "os^"[place], color=_draw.COLOURS[place], label=label or None, markersize=6 - place,
            fillstyle="none" if place else "full", clip_on=False,
        )  # fmt: skip
