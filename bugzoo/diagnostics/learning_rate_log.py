"""Is the learning rate in a usual range, and does the schedule move it as planned?

A scheduler takes one step per unit of its plan (an epoch, or an update), after the optimizer. Without scheduler.step() the
learning rate never changes. With one scheduler step per micro-batch the schedule ends before training does, and a cosine rises
again. Stepped before the optimizer, it never uses its first value. One update usually changes the parameters by about 1e-3 of
their size; at a millionth of that nothing is learned in any useful time. A re-created optimizer starts without its momentum.
"""

import gc
import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from torch.optim.lr_scheduler import ConstantLR, LambdaLR, LinearLR, LRScheduler

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, median, need_steps, share
from bugzoo.diagnostics.conditions import Alarm, Condition, above, below
from bugzoo.diagnostics.numbers import ANY, FLAG, Measured, judges, number, optional
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.restore import lent
from bugzoo.running.result import Run

COST = 1  # schedulers and optimizers are read while they are alive
VIEW = "learning_rate"
TITLE = "Learning rate"
KNOWN_PROBLEMS = (
    "A false positive for a cosine schedule that rises again on purpose, or a run that ends before its scheduler's "
    "first step. "
    "It reads no plan where several schedulers are alive, as in SequentialLR, or where the script sets the learning "
    "rate itself."
)
_SCHEDULED = "lr=1e-2)\nscheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, {})"
HEALTHY = example(("lr=1e-2)", _SCHEDULED.format(5)), ("    model.eval()", "    scheduler.step()\n    model.eval()"))
SICK = example(("lr=1e-2)", _SCHEDULED.format(5)))
_PLANS = ("T_max", "total_steps", "total_iters")
SPENT = 1e-3
"""A schedule is over below this part of its largest learning rate."""


@dataclass(kw_only=True)
class Numbers(Measured):
    """Learning rates, counts and shares between 0 and 1. Without a single live scheduler, its numbers are None."""

    update_ratio: float = number("median change of the parameters, skipped steps as 0 (share)", view="updates")
    steps: float = number("optimizer steps")
    first_rate: float = number("learning rate of the first step")
    largest_rate: float = number("largest learning rate")
    last_rate: float = number("learning rate of the last step")
    changes: float = number("steps at which the learning rate changed")
    spent_share: float = number("share of steps below 1/1000 of the largest rate", (0, 0.3))
    scheduler_steps: float | None = optional("scheduler steps", (1, ANY))
    planned: float | None = optional("scheduler steps in its plan")
    of_plan: float | None = optional("scheduler steps over those of its plan", (0.5, 1.5))
    intended_first_rate: float | None = optional("first learning rate in the plan", "that of the first step")
    takeovers: float = number("new optimizers that took over the same parameters", (0, 1))
    first_skipped: float | None = optional(hidden=FLAG)
    loss_left: float
    schedulers: float | None = None


def _scheduled(numbers: Measured | Mapping[str, Any]) -> float:
    """Return the steps of the scheduler; 0 without one."""
    return dict(numbers).get("scheduler_steps") or 0.0


idle = Condition(lambda numbers: _scheduled(numbers) < 1, {})
per_step = Condition(lambda numbers: _scheduled(numbers) >= dict(numbers).get("steps", math.nan), {})
unstepped = Alarm(
    above("schedulers") & idle & below("changes", 1),
    "The learning rate was recorded at every step. In {steps:.0f} optimizer steps the scheduler took "
    "{scheduler_steps:.0f}.",
    "The scheduler should take steps.",
)
beyond_plan = Alarm(
    above("of_plan", 1.5),
    "The learning rate was recorded at every step. The scheduler took {scheduler_steps:.0f} steps, and its plan has "
    "{planned:.0f}.",
    "Up to {limits[of_plan]:g} times its plan passes.",
)
spent = Alarm(
    above("spent_share", 0.3) & per_step,  # a plan for epochs; a plan for batches ends when training does
    "The learning rate was recorded at every step. At {spent_share:.0%} of the steps it was below a thousandth of its "
    "highest value.",
    "At most {limits[spent_share]:.0%} of the steps passes.",
)
first_skipped = Alarm(
    above("first_skipped"),
    "The learning rate was recorded at every step. The first step used {first_rate:.3g}, and the plan begins with "
    "{intended_first_rate:.3g}.",
    "The two should be equal.",
)
replaced = Alarm(
    above("takeovers", 1),
    "The optimizers of the training were counted. {takeovers:.0f} times a new one took over the same parameters.",
    "At most {limits[takeovers]:.0f} time passes.",
)
tiny_updates = Alarm(
    below("update_ratio", 3e-5) & above("loss_left", 0.8) & above("largest_rate"),
    "The change of the parameters was measured. One step changes them by {update_ratio:.1g} of their size.",
    "At least {limits[update_ratio]:.0g} passes; 1e-3 is usual.",
)
ALARMS = (unstepped, beyond_plan, spent, first_skipped, replaced, tiny_updates)


def measure(run: Run) -> Numbers:
    """Learning rates at the steps; counts of the schedulers that are alive. Raises NotApplicable below 3 steps."""
    trace = run.trace
    steps = need_steps(run, 3)
    rates = column(trace.learning_rate)
    rates = rates[np.isfinite(rates)]
    if not len(rates):
        raise NotApplicable("no learning rate was seen")
    loss = column(trace.loss)
    live = getattr(trace, "live", None)
    numbers = Numbers(
        steps=float(steps),
        first_rate=float(rates[0]),
        last_rate=float(rates[-1]),
        largest_rate=float(rates.max()),
        changes=float((np.abs(np.diff(rates)) > 1e-9 * rates.max()).sum()),
        spent_share=float((rates < SPENT * rates.max()).mean()),
        update_ratio=median(trace.update_ratio),
        loss_left=_left(loss[np.isfinite(loss)]),
        takeovers=0.0 if live is None else _takeovers(live.optimizers, column(trace.optimizer)),
    )
    if live is not None:
        _add_schedule(numbers, live.optimizers, rates[0])
    return numbers


def _left(loss: np.ndarray) -> float:
    """Loss at the end over that at the start; NaN where that means nothing."""
    start = float(loss[:3].mean()) if len(loss) >= 6 else 0.0
    return float(loss[-max(3, len(loss) // 10) :].mean()) / start if start > 0 else math.nan


def _takeovers(optimizers: list[Any], turns: np.ndarray) -> float:
    """How often a new optimizer of the same class took over the same parameters."""
    order = [int(i) for i in turns[np.isfinite(turns)]]
    order = [i for place, i in enumerate(order) if place == 0 or order[place - 1] != i]
    if len(set(order)) < len(order) or max(order, default=0) >= len(optimizers):
        return 0.0  # they take turns
    groups = [
        (type(optimizers[i]), {id(p) for group in optimizers[i].param_groups for p in group["params"]}) for i in order
    ]
    return float(sum(old == new for old, new in pairwise(groups)))


def _add_schedule(numbers: Numbers, optimizers: list[Any], first_rate: float) -> None:
    """Add the numbers of the one scheduler whose optimizer stepped; none without one, or with several."""
    stepped = {id(optimizer) for optimizer in optimizers}
    schedulers = [
        thing
        for thing in gc.get_objects()
        if issubclass(type(thing), LRScheduler) and id(getattr(thing, "optimizer", 0)) in stepped
    ]
    if len(schedulers) != 1:
        return
    scheduler = schedulers[0]
    # a warm-up (LinearLR, ConstantLR) keeps the full learning rate after its last step
    plans = () if isinstance(scheduler, LinearLR | ConstantLR) else _PLANS
    planned = next((getattr(scheduler, name) for name in plans if isinstance(getattr(scheduler, name, None), int)), 0)
    numbers.schedulers, numbers.scheduler_steps = 1.0, float(scheduler.last_epoch)
    if planned:
        numbers.planned, numbers.of_plan = float(planned), scheduler.last_epoch / planned
    first, second = (_value(scheduler, place) for place in (0, 1))
    if first is not None and second is not None:
        numbers.intended_first_rate = first
        skipped = abs(first_rate - second) < 1e-6 * abs(first) < abs(first - second)
        numbers.first_skipped = float(skipped and scheduler.last_epoch > 0)


def _value(scheduler: Any, place: int) -> float | None:
    """Learning rate of the first group at a place of the plan; None without a closed formula."""
    if isinstance(scheduler, LambdaLR):
        return float(scheduler.base_lrs[0] * scheduler.lr_lambdas[0](place))
    formula = getattr(scheduler, "_get_closed_form_lr", None)
    if formula is None:
        return None
    with lent(scheduler, "last_epoch", place):
        return float(formula()[0])


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires on a schedule that never moves, runs ahead or starts late, on lost momentum, and on tiny updates."""
    cause, score = "", 0.9
    rate, scheduler_steps = numbers.first_rate, _scheduled(numbers)
    text = f"the learning rate goes from {rate:.3g} to {numbers.last_rate:.3g}"
    if unstepped(numbers):
        cause = "loop/scheduler_never_stepped"
        text = (
            f"the script has a scheduler but never steps it: all {numbers.steps:.0f} steps use learning rate {rate:.3g}"
        )
    elif beyond_plan(numbers):
        cause, score = "loop/scheduler_per_microbatch", 0.8
        text = f"the scheduler took {scheduler_steps:.0f} steps, but its schedule ends after {numbers.planned:.0f}"
    elif spent(numbers):
        cause, score = "loop/scheduler_per_microbatch", 0.7
        text = f"the scheduler took {scheduler_steps:.0f} steps in {numbers.steps:.0f} optimizer steps; in "
        text += f"{share(numbers.spent_share)} of these the learning rate was below a thousandth of its highest value"
    elif first_skipped(numbers):
        cause, score = "loop/scheduler_before_optimizer", 0.8
        text = f"the schedule starts at learning rate {numbers.intended_first_rate:.3g}, "
        text += f"but the first step used its second value, {rate:.3g}"
    elif replaced(numbers):
        cause, score = "optimizer/momentum_reset_each_epoch", 0.85
        text = f"{numbers.takeovers:.0f} times a new optimizer took over the same parameters "
        text += f"(usually {Numbers.usual('takeovers')}), without the optimizer state (momentum) of the old one"
    elif tiny_updates(numbers):
        cause, score = "optimizer/lr_too_low", 0.8
        text = f"one step changes the parameters by {numbers.update_ratio:.1g} of their size (usually about 1e-3)"
        text += f", at learning rate {rate:.3g}"
    suspects = (Suspect(cause, score, text),) if cause else ()
    return Verdict("learning_rate_log", bool(suspects), text, numbers.labeled(), suspects)
