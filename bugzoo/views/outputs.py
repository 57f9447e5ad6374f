"""What is the loss given for one sample, and what does its gradient ask of each output?

To the left stand the values that enter the loss: the outputs of one sample in the first step and after training. To the
right is the gradient of that first step: an output below zero is pushed up, one above zero is pushed down. A ring marks
the target. For outputs of one number a sample, the x axis lists samples instead of classes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from bugzoo.diagnostics._tools import batches, model_of
from bugzoo.diagnostics.numbers import ANY, optional
from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.running.result import Run
from bugzoo.views import _draw, _loss_call, _loss_rows
from bugzoo.views._loss_rows import Series

FEW = 16
"""With fewer values their sign means little."""

ORDER = (
    "function", "given_shape", "target_shape", "averaged", "smallest_logit", "smallest", "largest",
    "double_normalisation.row_sum", "spread", "double_normalisation", "output_gradient",
)  # fmt: skip


@dataclass(kw_only=True)
class Numbers(Series):
    """The series of the picture, and what the first loss call was given. Shapes are text."""

    function: str | None = optional("loss function")
    given_shape: str | None = optional("shape of what it is given")
    target_shape: str | None = optional("shape of its targets")
    averaged: float | None = optional("numbers that the loss averages or adds up, per target", (0, 1))
    smallest_logit: float | None = optional("smallest value given to the loss (logits)", (-ANY, 0))
    smallest: float | None = optional("smallest value given to the loss")
    largest: float | None = optional("largest value given to the loss")
    spread: float | None = optional("nats between the log-probabilities of a row, after training", (1, ANY))
    not_repeated: str | None = None


def measure(run: Run) -> Numbers:
    """One sample's values and gradients. Raises NotApplicable if the model cannot be called, and the step not repeated."""
    batch = batches(run)[0]
    model, not_repeated = model_of(run, batch), None
    try:
        loss = _loss_call.first(run, model)
    except NotApplicable as why:
        loss, not_repeated = _loss_call.from_trace(run), str(why)
    trained = _loss_rows.trained(run, batch, model, loss)
    loss_input = loss.given if loss.given is not None else loss.output if loss.output is not None else trained
    if loss_input is None or not loss_input.ndim:
        raise NotApplicable("neither the loss's input nor the model's output was seen")
    target = loss.target if loss.target is not None else batch.targets
    measured = _loss_rows.rows if _loss_rows.is_table(loss_input, target) else _loss_rows.column
    numbers = Numbers(**vars(measured(loss, loss_input, target, trained)), not_repeated=not_repeated)
    numbers.given_shape, numbers.spread = _text(loss_input), _spread(run, loss, trained)
    if loss.function or (loss.given is None and loss.output is not None):
        numbers.function = loss.function or "written by hand, from the model's output"
    if target is not None:
        numbers.target_shape = _text(target)
    _sizes(numbers, run, loss, loss_input)
    return numbers


def _text(tensor: torch.Tensor) -> str:
    return str(tuple(tensor.shape)).replace(",)", ")")


def _sizes(numbers: Numbers, run: Run, loss: _loss_call.LossCall, given: torch.Tensor) -> None:
    """Measure the extremes of what the loss is given, and how many numbers it averages."""
    finite = given[torch.isfinite(given)]
    logits = loss.function in _loss_call.LOGITS or (not loss.function and bool(run.trace.graph.classes))
    if finite.numel():
        low, numbers.largest = float(finite.min()), float(finite.max())
        if logits and finite.numel() >= FEW:
            numbers.smallest_logit = low
        else:
            numbers.smallest = low
    if loss.reduced is not None and loss.output is not None:
        rows = loss.output.numel() // (loss.output.shape[-1] if loss.output.ndim > 1 else 1)
        several = loss.target.numel() if loss.target is not None else rows
        numbers.averaged = 1.0 if loss.reduced == loss.output.numel() else loss.reduced / max(1, several)


def _spread(run: Run, loss: _loss_call.LossCall, trained: torch.Tensor | None) -> float | None:
    """Nats between the largest and the smallest log-probability of a row, on average; None without classes."""
    classes = loss.function in _loss_call.CLASSES or (not loss.function and bool(run.trace.graph.classes))
    if not classes or trained is None or trained.ndim < 2 or not torch.isfinite(trained).all():
        return None
    axis = -1 if not loss.function or trained.ndim == 2 else 1
    return float((trained.amax(axis) - trained.amin(axis)).mean())


def draw(numbers: Numbers, figure: Any) -> None:
    """Draw what the loss is given, and the gradient beside it."""
    left, right = figure.subplots(1, 2)
    x, width, unit = numbers.x, numbers.width, numbers.of
    part = f" ({len(x)} of {width:.0f}{', largest gradients' if unit != 'sample' else ''})" if len(x) < width else ""
    for ax, ylabel in ((left, "given to the loss"), (right, "gradient of the loss")):
        _draw.prepare(ax, "", unit + part, ylabel)
        ax.axhline(0, color=_draw.INK, linewidth=0.6)
    inputs, trained, gradient = numbers.given or [], numbers.trained or [], numbers.gradient or []
    lines = [_series(left, unit, inputs, "first step", 0), _series(left, unit, trained, "after training", 1)]
    if any(lines):
        _targets(left, numbers, (inputs, trained), numbers.values or [])
        _draw.legend(left)
    else:
        _draw.absent(left, "what the loss was given\nis not finite or not known")
    if _series(right, unit, gradient, "", 0):
        _targets(right, numbers, (gradient,), [])
    else:
        _draw.absent(right, "no gradient: the first step\ncannot be repeated")
    for ax in (left, right):
        step = -(-len(x) // 12) or 1
        ax.set_xticks(range(0, len(x), step), list(map(str, x[::step])))


def _series(ax: Any, unit: str, values: Sequence[float], label: str, place: int) -> bool:
    """Draw one point a class or sample; return False without any that is finite."""
    points = [(at, value) for at, value in enumerate(values) if math.isfinite(value)]
    if not points:
        return False
    style = "os"[place] + (":" if unit != "sample" else "")
    size = (5 if len(points) <= _loss_rows.SAMPLES else 3) - place
    ax.plot(
        *zip(*points, strict=True), style, color=_draw.COLORS[place], label=label or None, linewidth=0.6, markersize=size,
        fillstyle="none" if place else "full",
    )  # fmt: skip
    return True


def _targets(ax: Any, numbers: Numbers, series: Sequence[Sequence[float]], values: Sequence[float]) -> None:
    """Ring the target in each series, or draw the target values of samples."""
    places = [numbers.x.index(target) for target in numbers.targets or [] if target in numbers.x]
    points = [(at, heights[at]) for heights in series for at in places if at < len(heights)]
    label = "target is 1" if numbers.of == "sample" else "target"
    if values:
        points, label = list(enumerate(values)), "target"
    if points:
        ax.plot(
            *zip(*points, strict=True), "o", color=_draw.INK, fillstyle="none", markersize=11, markeredgewidth=1.4,
            label=label,
        )  # fmt: skip
