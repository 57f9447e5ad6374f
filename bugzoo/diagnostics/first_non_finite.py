"""At which step, module and operation did the first NaN or infinity appear?

A NaN in the loss comes late. An operation outside its domain made it one step earlier, and the optimizer carried it into the
weights. Read the operation: log, sqrt, division and exp each have their own fix. A step that a GradScaler skips because of an
infinity is how mixed precision works, and does not count.
"""

import math
from dataclasses import dataclass

import numpy as np

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column
from bugzoo.diagnostics.conditions import Alarm, below
from bugzoo.diagnostics.numbers import FLAG, Measured, judges, number, optional
from bugzoo.diagnostics.verdict import Suspect, Verdict
from bugzoo.running.result import Run
from bugzoo.watching.records import Event
from bugzoo.watching.trace import Trace

COST = 0
VIEW = "layers"
TITLE = "NaN and infinity"
KNOWN_PROBLEMS = (
    "A false positive for a script that handles an infinite loss itself, for example with nan_to_num_() on its gradients. "
    "It misses NaN in the evaluation, in activations that never reach the loss, and at steps that a GradScaler skips."
)
HEALTHY = example()
SICK = example(("loss.backward()", "(loss + (0 * logits[0, 0]).log()).backward()"))
_CAUSES = (
    ("log", "numerics/log_at_step", "log of zero or of a negative number"),
    ("sqrt", "numerics/sqrt_at_zero", "square root of zero, where its gradient is infinite"),
    ("pow", "numerics/sqrt_at_zero", "a power of zero, where its gradient is infinite"),
    ("norm", "numerics/sqrt_at_zero", "norm of a zero vector, where it has no gradient"),
    ("div", "numerics/zero_norm_division", "division by zero"),
    ("exp", "numerics/exp_overflow", "exp of a large number"),
    ("softmax", "numerics/all_masked_row", "softmax over a row that is all -inf"),
)


@dataclass(kw_only=True)
class Numbers(Measured):
    """Steps from 1, NaN without one; the place and the losses before it only with an event, None where unknown."""

    loss_step: float = number("first step whose loss is not finite", view="loss_curve")
    step: float = number("first step with a number that is not finite")
    module: str | None = optional("module with the first number that is not finite")
    direction: str | None = optional("pass with the first number that is not finite")
    loss_before: float | None = optional("last finite loss before that", view="loss_curve", hidden="the curve shows it")
    found: float = number(hidden=FLAG)
    autocast: str
    scaler: float
    op: str | None = None
    file: str | None = None
    line: int | None = None
    code: str | None = None
    first_loss: float | None = None
    norm_growth: float | None = None
    bad_input: float


non_finite = Alarm(
    ~below("found", 1),
    "Every loss and every gradient was checked. The first NaN or infinity appears at step {step:.0f}.",
    "All of them should be finite.",
)
ALARMS = (non_finite,)


def measure(run: Run) -> Numbers:
    """`found` 0/1 and the step, from 1; `module`, `op`, `direction`, `file`, `line` as far as the trace knows them."""
    trace = run.trace
    loss, norm, scale = column(trace.loss), column(trace.grad_norm), column(trace.scale)
    trace.explain()
    skipped = {event.step for event in trace.events if event.kind == "skipped_step"}
    event = next(
        (
            event
            for event in sorted(trace.events, key=lambda event: event.step)
            if event.kind == "non_finite" and event.step not in skipped
        ),
        None,
    )
    if event and _no_gradient(trace):
        event = None  # every gradient was None, which is not a NaN
    backwards = column(trace.backwards)
    backwards = backwards if len(backwards) == len(loss) else np.ones(len(loss))  # a trace that was cut short
    bad_loss = ~np.isfinite(loss) & np.isfinite(column(trace.step)) & (backwards > 0)
    bad = np.flatnonzero(bad_loss | np.isinf(norm) | (np.isnan(norm) & bad_loss))
    bad = [int(trace.step[i]) for i in bad if int(trace.step[i]) not in skipped]
    numbers = Numbers(
        found=float(
            event is not None and (bool(bad) or event.data.get("direction") in ("loss", "gradient", "backward"))
        ),
        step=float(event.step) if event else math.nan,
        loss_step=float(bad[0]) if bad else math.nan,
        autocast=trace.graph.autocast or "",
        scaler=float(np.isfinite(scale).any()),
        bad_input=float(_bad_input(run, event)),
    )
    if event:
        place = event.data
        numbers.module, numbers.op, numbers.direction = place.get("module"), place.get("op"), place.get("direction")
        numbers.file, numbers.line, numbers.code = place.get("file"), place.get("line"), place.get("code")
        before = loss[: max(0, event.step - 1)]
        before = before[np.isfinite(before)]
        numbers.loss_before = float(before[-1]) if len(before) else math.nan
        numbers.first_loss = float(before[0]) if len(before) else math.nan
        norms = norm[: max(0, event.step - 1)]
        norms = norms[np.isfinite(norms)]
        numbers.norm_growth = float(norms[-1] / (np.median(norms) + 1e-30)) if len(norms) else math.nan
    return numbers


def _no_gradient(trace: Trace) -> bool:
    """Did no parameter ever have a gradient, with every loss finite? Then NaN in the norms means None."""
    norms = np.asarray(trace.param_grad_norm, dtype=np.float64)
    return norms.size > 0 and bool(np.isnan(norms).all() and np.isfinite(column(trace.loss)).all())


def _bad_input(run: Run, event: Event | None) -> bool:
    """Did a kept batch hold NaN before it entered the model?"""
    import torch

    from bugzoo.rerun.model import tensors

    live = getattr(run.trace, "live", None)
    if event is None or live is None or event.data.get("op") not in (None, "input"):
        return False  # an operation on finite numbers made it
    for batch in live.batches:
        if batch.step > event.step:  # by then everything may be NaN, a generator's samples too
            continue
        for tensor in tensors((batch.args, batch.kwargs, batch.targets)):
            if tensor.is_floating_point() and not torch.isfinite(tensor).all():
                return bool(torch.isnan(tensor).any())
    return False


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires if a loss, or a gradient that reached the optimizer, was not finite."""
    if not non_finite(numbers):
        return Verdict("first_non_finite", False, "every loss and gradient was finite", numbers.labeled())
    op, file, line = numbers.op or "", numbers.file, numbers.line or None
    where = f"step {numbers.step:.0f}: the first NaN or infinity"
    where += (
        f" comes from {op or 'an operation'} in {numbers.module or 'the model'}" if op or numbers.module else " appears"
    )
    where += f" ({numbers.direction})" if numbers.direction else ""
    suspects: list[Suspect] = []
    first = math.inf if numbers.first_loss is None else abs(numbers.first_loss)
    grown = (numbers.loss_before or 0.0) > 5 * first or (numbers.norm_growth or 0.0) > 1e3
    if numbers.bad_input or op == "input":
        text = f"{where}; the batch holds NaN before it enters the model"
        suspects.append(Suspect("numerics/nan_in_data", 0.9, text, file, line))
    elif numbers.autocast == "float16" and not numbers.scaler:
        text = f"{where}, in float16 autocast without a GradScaler"
        suspects.append(Suspect("precision/no_grad_scaler", 0.85, text, file, line))
    elif grown:
        text = f"{where}, after the loss or the gradient norm grew many times over"
        suspects.append(Suspect("optimizer/lr_too_high", 0.75, text, file, line))
        suspects.append(Suspect("clipping/clipping_missing", 0.4, text, file, line))
    name = op.lower().removesuffix("0").removesuffix("backward")
    code = (numbers.code or "").lower()
    for word, cause, meaning in _CAUSES:
        hit = (word in name and not (word == "log" and "softmax" in name)) or (not name and f"{word}(" in code)
        if hit and not suspects:
            suspects.append(Suspect(cause, 0.85, f"{where}: {meaning}", file, line))
            break
    if not suspects:
        suspects.append(Suspect("numerics/log_at_step", 0.3, f"{where}; its operation is unknown", file, line))
    return Verdict("first_non_finite", True, suspects[0].reason, numbers.labeled(), tuple(suspects))
