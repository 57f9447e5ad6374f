"""Does each optimizer step follow only the gradients of its own batches?

backward() adds to `.grad`. If something is left there when the first backward() of a step begins, the optimizer follows a sum
over old batches. `stale_share` near 1: gradients are never cleared (zero_grad() is missing), with one backward() per step or with
several (gradient accumulation). Near 0: they are cleared once per step, also with gradient accumulation on purpose. `empty_share`
near 1: the gradient was there after backward() and gone at step(). It was cleared in between, or step() came first.
"""

import gc
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, median, need_steps, share
from bugzoo.diagnostics.conditions import Alarm, above
from bugzoo.diagnostics.numbers import FLAG, TWICE, Measured, judges, number, optional
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.running.result import Run

COST = 0
VIEW = "gradients"
TITLE = "Gradients at each step"
KNOWN_PROBLEMS = (
    "A false positive where old gradients are kept on purpose, such as grad.mul_(0.9), or where a hinge loss under SGD is "
    "nearly always 0. "
    "It misses a step that follows only some of its micro-batches, and old gradients at no more than one step in ten."
)
HEALTHY = example()
SICK = example(("optimizer.zero_grad()", "pass"))
TRACE = 1e-6  # a cleared gradient leaves less, relative to the one at the step


@dataclass(kw_only=True)
class Numbers(Measured):
    """Shares between 0 and 1, counts and ratios of norms. Where no optimizer stepped, most are None."""

    stale_share: float = number("share of steps that begin with a gradient other than 0", (0, 0.1))
    leftover: float | None = optional("norm left before backward(), over the norm at the step", (0, 0.01))
    empty_share: float | None = optional("share of steps with no gradient, or one that is 0", (0, 0.05))
    backwards_per_step: float | None = optional("backward() calls per step")
    backwards_before_first_step: float | None = optional(hidden=FLAG)
    leaf_loss: float | None = optional(hidden=FLAG)
    never_stepped: float | None = optional(view="updates", hidden=FLAG)
    forwards_per_step: float | None = None
    update_ratio: float | None = None
    closure: float | None = None
    optimizers: float | None = None
    elsewhere_share: float | None = None
    file: str | None = None
    line: int | None = None
    backwards: float | None = optional(view="updates", hidden=TWICE)


unstepped = Alarm(
    above("never_stepped"),
    "The calls of the training were counted. backward() ran {backwards:.0f} times, and the optimizer took 0 steps.",
    "The optimizer should take steps.",
)
stale_gradients = Alarm(
    above("stale_share", 0.1),
    "The gradients were read when backward() began. At {stale_share:.0%} of the steps they were not 0.",
    "At most {limits[stale_share]:.0%} of the steps passes.",
)
no_gradients = Alarm(
    above("empty_share", 0.9) & ~above("update_ratio"),
    "The gradients were read at each optimizer step. At {empty_share:.0%} of the steps they were 0 or missing.",
    "At most {limits[empty_share]:.0%} of the steps passes; {usual[empty_share]} is usual.",
)
ALARMS = (unstepped, stale_gradients, no_gradients)


def measure(run: Run) -> Numbers:
    """Shares of the steps after each optimizer's first, between 0 and 1. Raises NotApplicable below 3 steps."""
    trace = run.trace
    if not len(column(trace.step)) and _never_stepped(run):
        return Numbers(never_stepped=1.0, backwards=float(trace.environment.get("backwards", 0)), stale_share=0.0)
    need_steps(run, 3)
    leftover, backwards = column(trace.leftover), column(trace.backwards)
    optimizer = column(trace.optimizer)
    later = np.zeros(len(leftover), dtype=bool)  # an optimizer's first step has nothing before it
    worst, counted, blamed = 0.0, 0, 0
    for index in np.unique(optimizer[np.isfinite(optimizer)]):
        rows = np.flatnonzero(optimizer == index)[1:]
        rows = rows[np.isfinite(leftover[rows]) | np.isinf(leftover[rows])]
        later[rows] = True
        if len(rows) >= 2:
            stale = float((leftover[rows] > TRACE).mean())
            worst, blamed = max((worst, blamed), (stale, int(index)), key=lambda pair: pair[0])
            counted += len(rows)
    if not counted:
        raise NotApplicable("gradients left before backward() were not recorded")
    norms = column(trace.grad_norm)
    absent = ~np.isfinite(norms) & ~np.isinf(norms)
    if trace.graph.autocast != "float16" or np.isfinite(column(trace.scale)).any():
        absent |= norms == 0  # without a GradScaler, float16 rounds small gradients to zero
    absent &= np.isfinite(column(trace.loss))  # a gradient of NaN is there: it makes the next loss NaN
    # exact zeros have other causes; wiped means that backward() ran and no gradient is left
    file, line = _place(trace, blamed)
    return Numbers(
        stale_share=worst,
        empty_share=float(absent.mean()),
        backwards_per_step=median(backwards, 1.0),
        backwards_before_first_step=float(backwards[0]) if len(backwards) else math.nan,
        forwards_per_step=sum(f.count for f in trace.forwards if f.grad) / len(norms),
        leftover=median(leftover[later], 0.0),
        update_ratio=median(trace.update_ratio),
        closure=float(_closure(run)),
        optimizers=float(len(np.unique(optimizer[np.isfinite(optimizer)]))),
        leaf_loss=float(trace.graph.leaf),
        elsewhere_share=_elsewhere(trace),
        file=file,
        line=line,
    )


def _place(trace: Any, optimizer: int) -> tuple[str, int] | tuple[None, None]:
    """File and line of that optimizer's step(), if the watch saw them."""
    places = trace.environment.get("step_places") or []
    return (places[optimizer] if optimizer < len(places) else None) or (None, None)


def _elsewhere(trace: Any) -> float:
    """Share of the trainable elements that no optimizer holds: the gradients may be there."""
    sizes = [(math.prod(p.shape), p.group is None) for p in trace.parameters if p.trainable]
    total = sum(size for size, _ in sizes)
    return sum(size for size, outside in sizes if outside) / total if total else 0.0


def _never_stepped(run: Run) -> bool:
    """Did backward() run several times while an existing optimizer never stepped?"""
    if run.trace.environment.get("backwards", 0) < 3 or getattr(run.trace, "live", None) is None:
        return False
    # not isinstance(): it reads `__class__`, and some of torch's objects warn or do work then
    return any(issubclass(type(thing), torch.optim.Optimizer) for thing in gc.get_objects())


def _closure(run: Run) -> bool:
    """Does an optimizer call backward() itself, several times per step?"""
    live = getattr(run.trace, "live", None)
    return any(type(optimizer).__name__ == "LBFGS" for optimizer in getattr(live, "optimizers", []))


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires if more than one step in ten follows old gradients, or if nearly all follow none."""
    if unstepped(numbers):
        backwards = numbers.backwards or 0.0
        text = f"backward() ran {backwards:.0f} times, and the optimizer never stepped: no parameter is updated"
        suspects = (Suspect("loop/step_missing", 0.9, text),)
        return Verdict("fresh_gradient", True, text, {"backwards": backwards}, suspects)
    file, line = numbers.file, numbers.line
    suspects: tuple[Suspect, ...] = ()
    text = "gradients are cleared before each step's backward(); "
    text += f"{share(numbers.stale_share)} of the steps begin with old ones"
    if stale_gradients(numbers):  # gradients are cleared at every step or not at all: a third is as wrong as all
        per_step = 1.0 if numbers.backwards_per_step is None else numbers.backwards_per_step
        # two backward() calls of one forward pass are one batch
        batches = per_step if numbers.forwards_per_step is None else min(per_step, numbers.forwards_per_step)
        cause = "loop/stale_gradients" if batches <= 1.1 or numbers.closure else "loop/step_every_n_never_zeroed"
        text = (
            f"{share(numbers.stale_share)} of the steps begin with the gradient of earlier batches "
            f"(usually {Numbers.usual('stale_share')}), at {per_step:g} backward() call(s) per step: nothing clears it"
        )
        suspects = (Suspect(cause, 0.95, text, file, line),)
    elif no_gradients(numbers):
        first = numbers.backwards_before_first_step
        cause = "loop/gradients_wiped" if first is None or first >= 1 else "loop/step_before_backward"
        text = f"at {share(numbers.empty_share or 0.0)} of the steps the optimizer finds no gradient or a zero one "
        text += f"(usually {Numbers.usual('empty_share')}), though backward() ran"
        if numbers.leaf_loss:
            cause, file, line = "graph/loss_rebuilt_from_item", None, None
            text += ". The loss is a new tensor without a graph, so no gradient flows back from it"
        elif (numbers.elsewhere_share or 0.0) > 0.3:
            cause, file, line = "freezing/optimizer_on_old_model", None, None
            text += f". {share(numbers.elsewhere_share or 0.0)} of the trainable parameters are not in any optimizer"
        suspects = (Suspect(cause, 0.95, text, file, line),)
    return Verdict("fresh_gradient", bool(suspects), text, numbers.labeled(), suspects)
