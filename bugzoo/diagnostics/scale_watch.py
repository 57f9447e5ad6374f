"""Half precision: do gradients fit into it, and does the scaler do its work?

float16 holds nothing below 2**-24, about 6e-8. Without a GradScaler small gradients become exact zeros on their way
through the autocast region; `underflow_share` is the share of gradient elements that are zero in half precision and not
zero in single precision, on the same batch. With a scaler, steps skipped now and then are how it finds its factor; most
of them skipped is not. bfloat16 has the exponent range of float32 and needs no scaler.
"""

import math
from typing import Any

import numpy as np
import torch

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import batches, column, model_of, need_steps, pick, share
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.loss import again
from bugzoo.rerun.model import live, quiet
from bugzoo.running.result import Run

COST = 1
_UNDER = "with torch.autocast('cpu', torch.{}):\n            logits = model(inputs[rows])"
SHOWN = {
    "underflow_share": ("share of gradient elements that the format rounds to 0", "about 0"),
    "overflow_share": ("share of gradient elements that it cannot hold", "0"),
    "skipped_share": ("share of steps that were left out", "about 0"),
    "scale": ("factor on the loss", ""),
}
HEALTHY = example(("logits = model(inputs[rows])", _UNDER.format("bfloat16")))
SICK = example(("logits = model(inputs[rows])", _UNDER.format("float16")))


def _gradients(model: torch.nn.Module, batch: Any, operation: str, half: bool, factor: float) -> torch.Tensor:
    """(elements,) gradient of the loss times `factor`, divided by it again."""
    trainable = [p for p in model.parameters() if p.requires_grad]
    torch.manual_seed(0)
    with torch.autocast(trainable[0].device.type, dtype=torch.float16, enabled=half):
        loss = again(model, batch, operation).float()
        if math.isfinite(batch.loss) and float(loss.detach()) > 0:
            loss = loss * abs(
                batch.loss / float(loss.detach())
            )  # as large as the script's own: divided, summed, weighted
    gradients = torch.autograd.grad(loss * factor, trainable, allow_unused=True)
    return torch.cat([g.float().flatten() / factor for g in gradients if g is not None])


def _underflow(run: Run, factor: float) -> tuple[float, float]:
    """(share of elements lost to zero, share not finite) of the half-precision gradient on the latest batch."""
    batch = batches(run)[-1]
    with quiet(model_of(run, batch), training=True) as model, torch.enable_grad():
        operation = run.trace.graph.loss_op
        half = _gradients(model, batch, operation, True, factor)
        single = _gradients(model, batch, operation, False, 1.0)
    there = single != 0
    lost = (there & (half == 0)).sum() / there.sum().clamp(min=1)
    return float(lost), float((~torch.isfinite(half)).float().mean())


def measure(run: Run) -> dict[str, Any]:
    """Shares between 0 and 1. Raises NotApplicable where nothing ran in half precision."""
    steps = need_steps(run, 1)
    trace = run.trace
    scale = column(trace.scale)
    scaled = bool(np.isfinite(scale).any())
    autocast = trace.graph.autocast or ""
    halves = {p.dtype for p in trace.parameters if p.trainable} & {"float16"}
    if not scaled and not autocast and not halves:
        raise NotApplicable("nothing ran in half precision")
    skipped = sum(event.kind == "skipped_step" for event in trace.events)
    zeros = np.asarray(trace.grad_zeros, dtype=np.float64)
    half = autocast == "float16"
    numbers: dict[str, Any] = {
        "autocast": autocast,
        "half_without_scaler": float(half and not scaled),
        "half_parameters": float(bool(halves)),
        "skipped_share": skipped / steps,
        "scale": float(scale[np.isfinite(scale)][-1]) if scaled else math.nan,
        "scale_changes": float((np.diff(scale[np.isfinite(scale)]) != 0).sum()) if scaled else 0.0,
        "zero_share": float(np.nanmean(zeros)) if np.isfinite(zeros).any() else math.nan,
        "non_finite_share": float((~np.isfinite(column(trace.grad_norm))).mean()),
        "steps": float(steps),
    }
    if half:
        try:
            live(run)
            factor = numbers["scale"] if scaled and math.isfinite(numbers["scale"]) and numbers["scale"] > 0 else 1.0
            numbers["underflow_share"], numbers["overflow_share"] = _underflow(run, factor)
        except NotApplicable as why:
            numbers["why_no_comparison"] = str(why)
    numbers.setdefault("underflow_share", numbers["zero_share"])
    numbers.setdefault("overflow_share", numbers["non_finite_share"])
    return numbers


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires on float16 without a scaler, on float16 parameters, and when most steps are skipped."""
    shown = pick(numbers, "half_without_scaler", "underflow_share", "overflow_share", "skipped_share", "scale")
    under, over = numbers["underflow_share"], numbers["overflow_share"]
    if numbers["half_without_scaler"]:
        text = f"float16 autocast without a GradScaler: {share(under)} of the gradient's elements are rounded to zero"
        text += f", {share(over)} are not finite" if over > 0 else ""
        score = 0.9 if under > 0.02 or over > 0 or numbers["non_finite_share"] > 0 else 0.55
        return Verdict("scale_watch", True, text, shown, (Suspect("precision/no_grad_scaler", score, text),))
    if numbers["half_parameters"]:
        text = "the trained parameters themselves are float16: updates and the optimiser's state underflow"
        return Verdict("scale_watch", True, text, shown, (Suspect("precision/half_parameters", 0.7, text),))
    if numbers["skipped_share"] > 0.5 and numbers["steps"] >= 10:
        text = f"the GradScaler skipped {share(numbers['skipped_share'])} of the steps"
        text += " and never changed its factor" if not numbers["scale_changes"] else ""
        cause = "precision/half_softmax" if numbers["scale_changes"] else "precision/scaler_never_updated"
        return Verdict("scale_watch", True, text, shown, (Suspect(cause, 0.6, text),))
    if numbers["autocast"] == "bfloat16":
        return Verdict("scale_watch", False, "bfloat16 has the range of float32 and needs no scaler", shown)
    text = f"{share(under)} of the gradient underflows under the scaler's factor"
    text += f"; {share(numbers['skipped_share'])} of the steps were skipped"
    return Verdict("scale_watch", False, text, shown)
