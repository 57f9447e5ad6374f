"""How far does one step move each tensor?

To the left the change of all parameters in a step, relative to their size, over the steps: usually 1e-4 to 1e-1. To the
right one point a tensor: its change in one step, repeated on the first batch from the initial weights, and over the
whole run. A tensor without a point did not move there, or began at 0.
"""

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from bugzoo.diagnostics._tools import column
from bugzoo.diagnostics.numbers import optional
from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.rerun.body import again
from bugzoo.running.result import Run
from bugzoo.views import _draw, _grouped, _tensors
from bugzoo.views._seen import Seen

USUAL = (1e-4, 1e-1)
"""Change of all parameters in a step, relative to their size."""
TIMES = 4
"""Repetitions of the loop's body: a bias that starts at 0 has a size then."""
POINTS = 200
MOST = 60
"""Tensors that fit beside one another."""

ORDER = (
    "steps", "backwards", "steps_per_backward", "typical_step", "largest_step", "learning_rate_log", "parameter_audit",
    "loss_scale",
)  # fmt: skip


@dataclass(kw_only=True)
class Numbers(Seen):
    """Changes over sizes: `ratio` at the steps `at`, `one` and `whole` of the largest tensors, in one step and the run."""

    steps: float | None = optional("optimizer steps")
    backwards: float | None = optional("backward() calls")
    steps_per_backward: float | None = optional("optimizer steps per backward() call", (0.01, 1))
    typical_step: float | None = optional("change of all parameters in a step, median (share)", (0.0001, 0.1))
    largest_step: float | None = optional("change of all parameters in a step, largest (share)", (0.0001, 0.5))
    at: list[float] = field(default_factory=list)
    ratio: list[float] = field(default_factory=list)
    tensors: float | None = None
    names: list[str] | None = None
    whole: list[float] | None = None
    one: list[float] | None = None
    not_repeated: str | None = None


def measure(run: Run) -> Numbers:
    """Relative changes: of all parameters over the steps, and of each tensor in one step and over the run."""
    trace = run.trace
    step, ratio = column(trace.step), column(trace.update_ratio)
    ratio = ratio if len(ratio) == len(step) else np.full(len(step), math.nan)  # a lost process measured none
    calls = float(trace.environment.get("backwards", np.nansum(column(trace.backwards))))
    numbers = Numbers(steps=float(len(step)), backwards=calls)
    if calls:
        numbers.steps_per_backward = len(step) / calls
    skipped = [event.step for event in trace.events if event.kind == "skipped_step"]
    taken = ratio[~np.isnan(ratio) & ~np.isin(step, skipped)]
    if len(taken):
        numbers.typical_step, numbers.largest_step = float(np.median(taken)), float(taken.max())
    rows = np.flatnonzero(~np.isnan(ratio))
    rows = rows[:: -(-len(rows) // POINTS) or 1]
    numbers.at, numbers.ratio = step[rows].tolist(), ratio[rows].tolist()
    if not trace.parameters:
        return numbers
    tensors = _tensors.of(run)
    numbers.tensors = float(len(tensors))
    largest = [tensors[place] for place in _grouped.largest(tensors, MOST)]
    numbers.names, numbers.whole = [tensor.name for tensor in largest], [tensor.moved for tensor in largest]
    try:
        with _changes(_tensors.live(run, tensors)) as changes:
            again(run, TIMES)
        numbers.one = [changes.get(tensor.name, math.nan) for tensor in largest]
    except NotApplicable as why:
        numbers.not_repeated = str(why)
    return numbers


@contextlib.contextmanager
def _changes(named: dict[str, torch.Tensor]) -> Iterator[dict[str, float]]:
    """Yield name -> |change| / |size before| in the latest step of the optimizer that holds the tensor."""
    names = {id(tensor): name for name, tensor in named.items()}
    changes: dict[str, float] = {}
    before: dict[str, tuple[torch.Tensor, torch.Tensor]] = {}

    def note(optimizer: Any, args: Any, kwargs: Any) -> None:
        held = (p for group in optimizer.param_groups for p in group["params"] if id(p) in names)
        before.update({names[id(p)]: (p, p.detach().clone()) for p in held})

    def compare(optimizer: Any, args: Any, kwargs: Any) -> None:
        for name, (now, old) in before.items():
            size = float(old.double().norm())
            changes[name] = float((now.detach().double() - old.double()).norm()) / size if size else math.nan
        before.clear()

    with register_optimizer_step_pre_hook(note), register_optimizer_step_post_hook(compare):
        yield changes


def draw(numbers: Numbers, figure: Any) -> None:
    """Draw the change over the steps, and the change of each tensor."""
    names = numbers.names or []
    longest = max(map(len, names), default=0)
    figure.set_size_inches(7.0, 2.6 + 0.05 * longest)  # the names stand below the axes
    steps, tensors = figure.subplots(1, 2)
    _draw.prepare(steps, "", "optimizer step", "change in a step / size")
    _draw.prepare(tensors, "", "", "change of a tensor / size")
    _over_steps(steps, numbers)
    series = {"one step": numbers.one or [], "whole run": numbers.whole or []}
    points = [_draw.points(tensors, values, label, place) for place, (label, values) in enumerate(series.items())]
    if not any(points):
        still = all(value == 0 for value in series["whole run"])
        _draw.absent(tensors, "no tensor changed" if still else "no tensor has a finite change")
        return
    tensors.set_yscale("log")
    _draw.decades(tensors.set_ylim, [value for values in series.values() for value in values])
    _draw.tensor_names(tensors, names)
    tensors.set_xlim(-1, len(names))  # whole markers at both ends
    if (count := numbers.tensors or 0.0) > len(names):
        tensors.set_xlabel(f"the {len(names)} largest of {count:.0f} tensors")
    _draw.legend(tensors)


def _over_steps(ax: Any, numbers: Numbers) -> None:
    at, ratio = np.asarray(numbers.at, dtype=np.float64), np.asarray(numbers.ratio, dtype=np.float64)
    if not len(at):
        _draw.absent(ax, "no step was measured" if numbers.steps else "no optimizer step")
        return
    if not np.isfinite(ratio).any():
        _draw.absent(ax, "no step has a finite change")
        return
    moved = np.isfinite(ratio) & (ratio > 0)
    ax.set_yscale("log")
    _draw.band(ax, *USUAL)
    ax.plot(at[moved], ratio[moved], ".-", color=_draw.COLORS[0], linewidth=1.2, label="all parameters")
    low, high = min([USUAL[0], *ratio[moved]]), max([USUAL[1], *ratio[moved]])
    ax.set_ylim(low / 3, high * 3)
    if (ratio == 0).any():  # a logarithmic axis has no place for it
        still = at[ratio == 0]
        ax.plot(still, [low / 2.5] * len(still), "v", color=_draw.THIS_RUN, markersize=5, label="exactly 0")
    ax.set_xlim(0, max(at) * 1.03)
    _draw.legend(ax)
