"""Which learning rate did each step use, and what did the schedule plan?

The line is the learning rate of the first parameter group at each step, the dashed line the plan of the scheduler spread
over the run. A marker at the end stands for the last rate of each further parameter group.
"""

import gc
from typing import Any

import numpy as np
from torch.optim.lr_scheduler import ConstantLR, LambdaLR, LinearLR, LRScheduler

from bugzoo.diagnostics._tools import column, need_steps
from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.rerun.restore import lent
from bugzoo.running.result import Run
from bugzoo.views import _above, _draw
from bugzoo.views.row import ANY, Row

POINTS = 250
MOST = 6
"""Optimizers and parameter groups with an entry in the legend."""
SPAN = 20.0
"""Largest over smallest learning rate from which on the axis is logarithmic."""

ROWS = (
    Row("learning_rate_log.steps", "optimizer steps"),
    Row("learning_rate_log.first_rate", "learning rate of the first step"),
    Row("learning_rate_log.largest_rate", "largest learning rate"),
    Row("learning_rate_log.last_rate", "learning rate of the last step"),
    Row("learning_rate_log.changes", "steps at which the learning rate changed"),
    Row("learning_rate_log.spent_share", "share of steps below 1/1000 of the largest rate", (0, 0.3)),
    Row("learning_rate_log.scheduler_steps", "scheduler steps", (1, ANY)),
    Row("learning_rate_log.planned", "scheduler steps in its plan"),
    Row("learning_rate_log.of_plan", "scheduler steps over those of its plan", (0.5, 1.5)),
    Row("learning_rate_log.intended_first_rate", "first learning rate in the plan", "that of the first step"),
    Row("first_of_plan", "first learning rate over the first in the plan", (0.99, 1.01)),
    Row("learning_rate_log.takeovers", "new optimizers that took over the same parameters", (0, 1)),
    Row("optimizer_handover.rate_ratio", "learning rate of parameters trained before over new ones", (0, 0.5)),
)


def measure(run: Run) -> dict[str, Any]:
    """The learning rates, thinned, the plan of the one scheduler, and the last rates of further groups."""
    steps = need_steps(run)
    trace = run.trace
    step, rate, index = column(trace.step), column(trace.learning_rate), column(trace.optimizer)
    if not np.isfinite(rate).any():
        raise NotApplicable("no learning rate was seen")
    kept = _kept(rate, index)
    numbers: dict[str, Any] = {"x": step[kept].tolist(), "rates": rate[kept].tolist(), "index": index[kept].tolist()}
    optimizers = getattr(trace.live, "optimizers", [])
    if not optimizers:
        return numbers
    plan = _plan(optimizers, steps)
    if plan:
        numbers |= {"plan_x": [x for x, _ in plan], "plan": [y for _, y in plan]}
        if plan[0][1] > 0:
            numbers["first_of_plan"] = float(rate[0]) / plan[0][1]
    last = index[-1]
    if np.isfinite(last) and int(last) < len(optimizers):
        groups = [float(group.get("lr", np.nan)) for group in optimizers[int(last)].param_groups]
        numbers["groups"] = groups[:MOST]
    return numbers


def _kept(rate: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Return the places of each optimizer's ends and of both sides of each change: what lies between them is flat."""
    kept: list[int] = []
    optimizers = np.unique(index[np.isfinite(index)])
    for one in optimizers:
        places = np.flatnonzero(index == one)
        change = np.diff(rate[places]) != 0
        edges = places[np.append(True, change) | np.append(change, True)].tolist()
        kept += [*edges[:: -(-len(edges) * len(optimizers) // POINTS)], int(places[-1])]
    return np.unique(np.asarray(kept, dtype=np.intp))


def _plan(optimizers: list[Any], steps: int) -> list[tuple[float, float]]:
    """Return (step, learning rate) of the schedule; empty without a scheduler whose plan is a formula, or with several.

    The plan is spread over the run: at the pace of the scheduler's steps, unless it made none, or more than it planned.
    """
    mine = {id(optimizer) for optimizer in optimizers}
    # not isinstance(): it reads `__class__`, and some of torch's objects warn or do work then
    kinds = [one for one in gc.get_objects() if issubclass(type(one), LRScheduler)]
    found = [one for one in kinds if id(getattr(one, "optimizer", 0)) in mine]
    if len(found) != 1:
        return []
    scheduler = found[0]
    # a warm-up (LinearLR, ConstantLR) keeps the full learning rate after its last step
    lengths = () if isinstance(scheduler, LinearLR | ConstantLR) else ("T_max", "total_steps", "total_iters")
    planned = next((n for name in lengths if isinstance(n := getattr(scheduler, name, None), int) and n > 0), 0)
    made = int(scheduler.last_epoch)
    units = made if 0 < made <= (planned or made) else planned
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


def draw(numbers: dict[str, Any], figure: Any) -> None:
    """Draw the learning rate over the steps, the plan, and the last rates of further groups."""
    ax = _draw.axes(figure, "optimizer step", "learning rate")
    x, rates, index = (np.asarray(numbers.get(key, []), dtype=np.float64) for key in ("x", "rates", "index"))
    if not np.isfinite(rates).any():
        _draw.absent(ax, "no learning rate was seen")
        return
    which = np.unique(index[np.isfinite(index)])
    for place, one in enumerate(which):
        label = "this run" if len(which) == 1 else f"optimizer {one + 1:.0f}"
        if len(which) > MOST:
            label = "" if place else f"{len(which)} optimizers"
        _draw.line(ax, x[index == one].tolist(), rates[index == one].tolist(), label, place)
    plan_x, plan = numbers.get("plan_x", []), numbers.get("plan", [])
    if plan:
        end = max(x[-1], plan_x[-1])
        kind = "steps-post" if len(plan) < 2 or plan_x[1] - plan_x[0] > 1.5 else "default"
        ax.plot([*plan_x, end], [*plan, plan[-1]], "--", drawstyle=kind, color=_draw.GREY, linewidth=1.2, label="plan")
    ends = [(place, value) for place, value in enumerate(numbers.get("groups", [])) if place and value != rates[-1]]
    for place, value in ends:
        marker = "sD^vPX"[place % 6]
        ax.plot(
            x[-1],
            value,
            marker,
            color=_draw.COLOURS[place % 6],
            clip_on=False,
            label=f"param_groups[{place}] at the end",
        )
    _scaled(ax, [*rates, *plan, *(value for _, value in ends)])
    if plan or ends or len(which) > 1:
        _above.legend(ax)


def _scaled(ax: Any, values: list[float]) -> None:
    """Make the axis logarithmic where the rates span decades, and begin it at 0 otherwise."""
    shown = [value for value in values if np.isfinite(value) and value > 0]
    if shown and max(shown) > SPAN * min(shown):
        ax.set_yscale("log")
    elif shown:
        ax.set_ylim(0, max(shown) * 1.1)
