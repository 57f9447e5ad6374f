"""Do gradients underflow in float16, and does the GradScaler find and keep its scale?

float16 holds nothing below 2**-24, about 6e-8. Without a GradScaler small gradients become exact zeros on their way
through the autocast region; `underflow_share` is the share of gradient elements that are zero in float16 and not in float32, on
the same batch. A scaler starts high, halves its scale when a gradient overflows and skips that step, and doubles it after many
good steps. A few skipped steps are usual, most of them skipped are not. Between two steps of one optimizer the scale at
most doubles: `rise` is the largest ratio of two neighboring scales, at `rise_step`, from `rise_from`, and `skipped_after_rise`
counts the skipped ones among the 20 steps after it. bfloat16 has the exponent range of float32 and needs no scaler.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import batches, column, model_of, need_steps, share
from bugzoo.diagnostics.conditions import Alarm, above
from bugzoo.diagnostics.numbers import FLAG, Measured, judges, number, optional
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.loss import again
from bugzoo.rerun.model import live, quiet
from bugzoo.running.result import Run

COST = 1
VIEW = "gradients"
TITLE = "Gradients in float16"
_UNDER = "with torch.autocast('cpu', torch.{}):\n            logits = model(inputs[rows])"
KNOWN_PROBLEMS = (
    "A false positive where the script multiplies its float16 loss by a constant, and divides the gradients by it "
    "again. "
    "It misses parameters trained in bfloat16, and gradients that underflow although a GradScaler is in use."
)
HEALTHY = example(("logits = model(inputs[rows])", _UNDER.format("bfloat16")))
SICK = example(("logits = model(inputs[rows])", _UNDER.format("float16")))
_MADE = 'scaler = torch.amp.GradScaler("cpu", init_scale=2.0**120)\n'
_SCALED = (
    ("loss.backward()", "scaler.scale(loss * 1e4).backward()"),
    ("optimizer.step()", "scaler.step(optimizer)\n        scaler.update()"),
)
FURTHER = (
    (
        example(("for epoch", f"{_MADE}for epoch"), *_SCALED),
        example(("    model.train()", f"    {_MADE}    model.train()"), *_SCALED),
    ),
)
AFTER = 20
"""How many steps after the largest rise are looked at."""


@dataclass(kw_only=True)
class Numbers(Measured):
    """Shares between 0 and 1; steps count from 1. `why_no_comparison`: why float16 was not compared with float32."""

    scale: float = number("loss scale at the end")
    rise: float | None = optional("largest factor between the loss scales of two steps", (1, 2))
    underflow_share: float = number("share of gradient elements that float16 rounds to 0", (0, 0.05))
    overflow_share: float = number("share of gradient elements not finite in float16", (0, 0))
    skipped_share: float = number("share of steps that the GradScaler skipped", (0, 0.2), view="updates")
    rise_from: float | None = optional("loss scale before its largest rise", hidden="the factor stands there")
    rise_step: float | None = optional("step of the largest rise of the loss scale", hidden="the factor stands there")
    skipped_after_rise: float | None = optional(
        "skipped steps among the 20 after the largest rise",
        (0, 0),
        hidden="the share of all skipped steps stands in updates",
    )
    half_parameters: float = number(view="weights", hidden=FLAG)
    half_without_scaler: float = number(hidden=FLAG)
    autocast: str
    scale_changes: float
    zero_share: float
    non_finite_share: float
    steps: float
    why_no_comparison: str | None = None


unscaled = above("half_without_scaler")
half_weights = above("half_parameters")
risen = Alarm(
    above("rise", 4),  # a scaler that is told to grow faster than by 2 hardly grows by more
    "The loss scale was recorded at every step. At step {rise_step:.0f} it is {rise:.3g} times that of the step "
    "before.",
    "Up to {limits[rise]:g} times passes; {usual[rise]} times is usual.",
)
skipped_steps = Alarm(
    above("skipped_share", 0.5) & above("steps", 9) & ~unscaled & ~half_weights,
    "The optimizer steps were counted. {skipped_share:.0%} of them were skipped.",
    "At most {limits[skipped_share]:.0%} passes; {usual[skipped_share]} is usual.",
)
overflow = Alarm(
    (unscaled | half_weights) & above("overflow_share"),
    "The gradients were recorded in their dtype. {underflow_share:.0%} of the elements are 0 there, and "
    "{overflow_share:.0%} are not finite.",
    "Both should be about 0%.",
)
underflow = Alarm(
    unscaled | half_weights,
    "The gradients were recorded in their dtype. {underflow_share:.0%} of the elements are 0 there.",
    "The training should keep small gradients (about 0%).",
)
ALARMS = (risen, skipped_steps, overflow, underflow)


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
    """(share of elements lost to zero, share not finite) of the float16 gradient on the latest batch."""
    batch = batches(run)[-1]
    with quiet(model_of(run, batch), training=True) as model, torch.enable_grad():
        operation = run.trace.graph.loss_op
        half = _gradients(model, batch, operation, True, factor)
        single = _gradients(model, batch, operation, False, 1.0)
    there = single != 0
    lost = (there & (half == 0)).sum() / there.sum().clamp(min=1)
    return float(lost), float((~torch.isfinite(half)).float().mean())


def measure(run: Run) -> Numbers:
    """Shares between 0 and 1, scales and counts. Raises NotApplicable where nothing ran in float16 or bfloat16."""
    steps = need_steps(run, 1)
    trace = run.trace
    scale = column(trace.scale)
    scaled = bool(np.isfinite(scale).any())
    autocast = trace.graph.autocast or ""
    halves = {p.dtype for p in trace.parameters if p.trainable} & {"float16"}
    if not scaled and not autocast and not halves:
        raise NotApplicable("nothing ran in float16 or bfloat16")
    skipped = sum(event.kind == "skipped_step" for event in trace.events)
    zeros = np.asarray(trace.grad_zeros, dtype=np.float64)
    half = autocast == "float16"
    finite = scale[np.isfinite(scale)]
    zero_share = float(np.nanmean(zeros)) if np.isfinite(zeros).any() else math.nan
    non_finite_share = float((~np.isfinite(column(trace.grad_norm))).mean())
    numbers = Numbers(
        autocast=autocast,
        half_without_scaler=float(half and not scaled),
        half_parameters=float(bool(halves)),
        skipped_share=skipped / steps,
        scale=float(finite[-1]) if scaled else math.nan,
        scale_changes=float((np.diff(finite) != 0).sum()),
        zero_share=zero_share,
        non_finite_share=non_finite_share,
        steps=float(steps),
        underflow_share=zero_share,
        overflow_share=non_finite_share,
    )
    if half:
        try:
            live(run)
            factor = numbers.scale if numbers.scale > 0 else 1.0
            numbers.underflow_share, numbers.overflow_share = _underflow(run, factor)
        except NotApplicable as why:
            numbers.why_no_comparison = str(why)
    if scaled and steps > 1:
        numbers.rise, numbers.rise_from, numbers.rise_step, numbers.skipped_after_rise = _rise(trace, scale)
    return numbers


def _rise(trace: Any, scale: np.ndarray) -> tuple[float, float, float, float]:
    """The largest rise of the (S,) loss scale between two steps of one optimizer.

    Returns the factor, the scale before it, its step, and the skipped steps among the `AFTER` from there on.
    """
    optimizer = column(trace.optimizer)
    with np.errstate(divide="ignore", invalid="ignore"):
        rises = scale[1:] / scale[:-1]
    rises[~np.isfinite(rises) | (optimizer[1:] != optimizer[:-1])] = 1.0  # another optimizer: another training
    place = int(np.argmax(rises))
    skipped = {event.step for event in trace.events if event.kind == "skipped_step"}
    first = place + 2  # steps count from 1, and it rose after the one at `place`
    after = sum(first <= step < first + AFTER for step in skipped)
    return float(rises[place]), float(scale[place]), float(first), float(after)


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires on float16 without a scaler, on float16 parameters, on most steps skipped, and on a scale that is found anew."""
    suspects = (*_format(numbers), *_search(numbers))
    if suspects:
        text = suspects[0].reason
    elif numbers.autocast == "bfloat16":
        text = "bfloat16 has the range of float32 and needs no GradScaler"
    else:
        text = f"{share(numbers.underflow_share)} of the gradient elements underflow at this loss scale; "
        text += f"{share(numbers.skipped_share)} of the steps were skipped"
    return Verdict("loss_scale", bool(suspects), text, numbers.labeled(), suspects)


def _format(numbers: Numbers) -> Iterator[Suspect]:
    under, over = numbers.underflow_share, numbers.overflow_share
    if unscaled(numbers):
        text = f"float16 autocast without a GradScaler: {share(under)} of the gradient elements underflow to zero"
        text += f", {share(over)} are not finite" if over > 0 else ""
        score = 0.9 if under > 0.02 or over > 0 or numbers.non_finite_share > 0 else 0.55
        yield Suspect("precision/no_grad_scaler", score, text)
    elif half_weights(numbers):
        text = "the trained parameters are float16: small updates and the optimizer's state underflow"
        yield Suspect("precision/half_parameters", 0.7, text)


def _search(numbers: Numbers) -> Iterator[Suspect]:
    if risen(numbers):
        text = f"at step {numbers.rise_step:.0f} the loss scale is {numbers.rise:.3g} times that of the step before "
        text += f"({numbers.rise_from:.3g}), and {numbers.skipped_after_rise:.0f} of the next {AFTER} steps are skipped"
        yield Suspect("resume/scaler_state_lost", 0.8, text)
    if skipped_steps(numbers):
        text = f"the GradScaler skipped {share(numbers.skipped_share)} of the steps "
        text += f"(usually {Numbers.usual('skipped_share')})"
        text += " and never changed its scale" if not numbers.scale_changes else ""
        cause = "precision/half_softmax" if numbers.scale_changes else "precision/scaler_never_updated"
        yield Suspect(cause, 0.6, text)
