"""Which learning rate did each step use, and what did the schedule plan?

The line is the learning rate of the first parameter group at each step, the dashed line the plan of the scheduler spread
over the run. A marker at the end stands for the last rate of each further parameter group.
"""

import gc
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch.optim.lr_scheduler import ConstantLR, LambdaLR, LinearLR, LRScheduler

from bugzoo.diagnostics._tools import column, need_steps
from bugzoo.diagnostics.numbers import optional
from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.rerun.restore import lent
from bugzoo.running.result import Run
from bugzoo.views import _draw
from bugzoo.views._seen import Seen

POINTS = 250
MOST = 6
"""Optimizers and parameter groups with an entry in the legend."""
SPAN = 20.0
"""Largest over smallest learning rate from which on the axis is logarithmic."""

ORDER = ("learning_rate_log", "first_of_plan", "learning_rate_log.takeovers", "optimizer_handover")


@dataclass(kw_only=True)
class Numbers(Seen):
    """`rates` at the steps `x`, of the optimizers `index`; the `plan` at `plan_x`; the last rate of each group."""

    first_of_plan: float | None = optional("first learning rate over the first in the plan", (0.99, 1.01))
    x: list[float] | None = None
    rates: list[float] | None = None
    index: list[float] | None = None
    plan_x: list[float] | None = None
    plan: list[float] | None = None
    groups: list[float] | None = None


def measure(run: Run) -> Numbers:
    """The learning rates, thinned, the plan of the one scheduler, and the last rates of further groups."""
    steps = need_steps(run)
    trace = run.trace
    step, rate, index = column(trace.step), column(trace.learning_rate), column(trace.optimizer)
    if not np.isfinite(rate).any():
        raise NotApplicable("no learning rate was seen")
    corners = _corners(rate, index)
    numbers = Numbers(x=step[corners].tolist(), rates=rate[corners].tolist(), index=index[corners].tolist())
    optimizers = getattr(trace.live, "optimizers", [])
    if not optimizers:
        return numbers
    plan = _plan(optimizers, steps)
    if plan:
        numbers.plan_x, numbers.plan = [x for x, _ in plan], [y for _, y in plan]
        if plan[0][1] > 0:
            numbers.first_of_plan = float(rate[0]) / plan[0][1]
    last = index[-1]
    if np.isfinite(last) and int(last) < len(optimizers):
        groups = optimizers[int(last)].param_groups[:MOST]
        numbers.groups = [float(group.get("lr", np.nan)) for group in groups]
    return numbers


def _corners(rate: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Return the places of each optimizer's ends and of both sides of each change: what lies between them is flat."""
    corners: list[int] = []
    optimizers = np.unique(index[np.isfinite(index)])
    for optimizer in optimizers:
        places = np.flatnonzero(index == optimizer)
        change = np.diff(rate[places]) != 0
        edges = places[np.append(True, change) | np.append(change, True)].tolist()
        corners += [*edges[:: -(-len(edges) * len(optimizers) // POINTS)], int(places[-1])]
    return np.unique(np.asarray(corners, dtype=np.intp))


def _plan(optimizers: list[Any], steps: int) -> list[tuple[float, float]]:
    """Return (step, learning rate) of the schedule; empty without a scheduler whose plan is a formula, or with several.

    The plan is spread over the run: at the pace of the scheduler's steps, unless it made none, or more than it planned.
    """
    identities = {id(optimizer) for optimizer in optimizers}
    # not isinstance(): it reads `__class__`, and some of torch's objects warn or do work then
    kinds = [scheduler for scheduler in gc.get_objects() if issubclass(type(scheduler), LRScheduler)]
    schedulers = [scheduler for scheduler in kinds if id(getattr(scheduler, "optimizer", 0)) in identities]
    if len(schedulers) != 1:
        return []
    scheduler = schedulers[0]
    # a warm-up (LinearLR, ConstantLR) keeps the full learning rate after its last step
    lengths = () if isinstance(scheduler, LinearLR | ConstantLR) else ("T_max", "total_steps", "total_iters")
    planned = next((n for name in lengths if isinstance(n := getattr(scheduler, name, None), int) and n > 0), 0)
    steps_made = int(scheduler.last_epoch)
    units = steps_made if 0 < steps_made <= (planned or steps_made) else planned
    places = range(0, units, -(-units // POINTS) or 1)
    values = [(1 + place * steps / units, _value(scheduler, place)) for place in places]
    return [(x, value) for x, value in values if value is not None]


def _value(scheduler: Any, place: int) -> float | None:
    """Return the first group's learning rate at a place of the plan; None without a closed formula."""
    if isinstance(scheduler, LambdaLR):
        return float(scheduler.base_lrs[0] * scheduler.lr_lambdas[0](place))
    formula = getattr(scheduler, "_get_closed_form_lr", None)
    if formula is None:
        return None
    with lent(scheduler, "last_epoch", place):
        return float(formula()[0])


def draw(numbers: Numbers, figure: Any) -> None:
    """Draw the learning rate over the steps, the plan, and the last rates of further groups."""
    ax = _draw.axes(figure, "optimizer step", "learning rate")
    columns = numbers.x, numbers.rates, numbers.index
    x, rates, index = (np.asarray(values or [], dtype=np.float64) for values in columns)
    if not np.isfinite(rates).any():
        _draw.absent(ax, "no learning rate was seen")
        return
    which = np.unique(index[np.isfinite(index)])
    for place, optimizer in enumerate(which):
        label = "this run" if len(which) == 1 else f"optimizer {optimizer + 1:.0f}"
        if len(which) > MOST:
            label = "" if place else f"{len(which)} optimizers"
        _draw.line(ax, x[index == optimizer].tolist(), rates[index == optimizer].tolist(), label, place)
    plan_x, plan = numbers.plan_x or [], numbers.plan or []
    if plan:
        end = max(x[-1], plan_x[-1])
        kind = "steps-post" if len(plan) < 2 or plan_x[1] - plan_x[0] > 1.5 else "default"
        ax.plot([*plan_x, end], [*plan, plan[-1]], "--", drawstyle=kind, color=_draw.INK, linewidth=1.2, label="plan")
    ends = [(place, value) for place, value in enumerate(numbers.groups or []) if place and value != rates[-1]]
    for place, value in ends:
        marker, label = "sD^vPX"[place % 6], f"param_groups[{place}] at the end"
        ax.plot(x[-1], value, marker, color=_draw.COLORS[(place + 3) % 6], clip_on=False, label=label)
    _scaled(ax, [*rates, *plan, *(value for _, value in ends)])
    if plan or ends or len(which) > 1:
        _draw.end_labels(ax)


def _scaled(ax: Any, values: list[float]) -> None:
    """Make the axis logarithmic where the rates span decades, and begin it at 0 otherwise."""
    positive = [value for value in values if np.isfinite(value) and value > 0]
    if positive and max(positive) > SPAN * min(positive):
        ax.set_yscale("log")
    elif positive:
        ax.set_ylim(0, max(positive) * 1.1)
