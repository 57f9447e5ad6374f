"""At which step, module and operation did the first NaN or infinity appear?

A NaN in the loss comes late. An operation outside its domain made it one step earlier, and the optimizer carried it into the
weights. Read the operation: log, sqrt, division and exp each have their own fix. A step that a GradScaler skips because of an
infinity is how mixed precision works, and does not count.
"""

import math
from typing import Any

import numpy as np

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, pick
from bugzoo.diagnostics.verdict import Suspect, Verdict
from bugzoo.running.result import Run

COST = 0
SHOWN = {
    "step": ("first step with a number that is not finite", ""),
    "loss_step": ("first step whose loss is not finite", ""),
    "loss_before": ("last finite loss before that", ""),
    "module": ("module with the first number that is not finite", ""),
    "direction": ("pass with the first number that is not finite", ""),
}
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


def measure(run: Run) -> dict[str, Any]:
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
    numbers: dict[str, Any] = {
        "found": float(
            event is not None and (bool(bad) or event.data.get("direction") in ("loss", "gradient", "backward"))
        ),
        "step": float(event.step) if event else math.nan,
        "loss_step": float(bad[0]) if bad else math.nan,
        "autocast": trace.graph.autocast or "",
        "scaler": float(np.isfinite(scale).any()),
    }
    if event:
        numbers |= {key: event.data.get(key) for key in ("module", "op", "direction", "file", "line", "code")}
        before = loss[: max(0, event.step - 1)]
        before = before[np.isfinite(before)]
        numbers["loss_before"] = float(before[-1]) if len(before) else math.nan
        numbers["first_loss"] = float(before[0]) if len(before) else math.nan
        norms = norm[: max(0, event.step - 1)]
        norms = norms[np.isfinite(norms)]
        numbers["norm_growth"] = float(norms[-1] / (np.median(norms) + 1e-30)) if len(norms) else math.nan
    numbers["bad_input"] = float(_bad_input(run, event))
    return numbers


def _no_gradient(trace: Any) -> bool:
    """Did no parameter ever have a gradient, with every loss finite? Then NaN in the norms means None."""
    norms = np.asarray(trace.param_grad_norm, dtype=np.float64)
    return norms.size > 0 and bool(np.isnan(norms).all() and np.isfinite(column(trace.loss)).all())


def _bad_input(run: Run, event: Any) -> bool:
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


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires if a loss, or a gradient that reached the optimizer, was not finite."""
    shown = pick(numbers, "found", "step", "loss_step")
    if not numbers["found"]:
        return Verdict("first_non_finite", False, "every loss and gradient was finite", shown)
    op, module = str(numbers.get("op") or ""), numbers.get("module") or "the model"
    where = f"step {numbers['step']:.0f}: the first NaN or infinity"
    where += f" comes from {op or 'an operation'} in {module}" if op or numbers.get("module") else " appears"
    direction = numbers.get("direction")
    where += f" ({direction})" if direction else ""
    place = {"file": numbers.get("file"), "line": int(numbers["line"]) if numbers.get("line") else None}
    suspects: list[Suspect] = []
    grown = (
        numbers.get("loss_before", 0.0) > 5 * abs(numbers.get("first_loss", math.inf))
        or numbers.get("norm_growth", 0) > 1e3
    )
    if numbers.get("bad_input") or op == "input":
        suspects.append(
            Suspect("numerics/nan_in_data", 0.9, f"{where}; the batch holds NaN before it enters the model", **place)
        )
    elif numbers.get("autocast") == "float16" and not numbers.get("scaler"):
        suspects.append(
            Suspect("precision/no_grad_scaler", 0.85, f"{where}, in float16 autocast without a GradScaler", **place)
        )
    elif grown:
        text = f"{where}, after the loss or the gradient norm grew many times over"
        suspects.append(Suspect("optimizer/lr_too_high", 0.75, text, **place))
        suspects.append(Suspect("clipping/clipping_missing", 0.4, text, **place))
    name = op.lower().removesuffix("0").removesuffix("backward")
    code = str(numbers.get("code") or "").lower()
    for word, cause, meaning in _CAUSES:
        hit = (word in name and not (word == "log" and "softmax" in name)) or (not name and f"{word}(" in code)
        if hit and not suspects:
            suspects.append(Suspect(cause, 0.85, f"{where}: {meaning}", **place))
            break
    if not suspects:
        suspects.append(Suspect("numerics/log_at_step", 0.3, f"{where}; its operation is unknown", **place))
    return Verdict("first_non_finite", True, suspects[0].reason, shown, tuple(suspects))
