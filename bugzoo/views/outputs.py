"""What is the loss given for one sample, and what does its gradient ask of each output?

To the left stand the values that enter the loss: the outputs of one sample in the first step and after training. To the
right is the gradient of that first step: an output below zero is pushed up, one above zero is pushed down. A ring marks
the target. For outputs of one number a sample, the x axis lists samples instead of classes.
"""

import math
from typing import Any

import torch

from bugzoo.diagnostics._tools import batches, model_of
from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.running.result import Run
from bugzoo.views import _draw, _loss_call, _loss_rows
from bugzoo.views.row import ANY, Row

FEW = 16
"""With fewer values their sign means little."""

ROWS = (
    Row("function", "loss function"),
    Row("given_shape", "shape of what it is given"),
    Row("target_shape", "shape of its targets"),
    Row("averaged", "numbers that the loss averages or adds up, per target", (0, 1)),
    Row("smallest_logit", "smallest value given to the loss (logits)", (-ANY, 0)),
    Row("smallest", "smallest value given to the loss"),
    Row("largest", "largest value given to the loss"),
    Row("double_normalisation.row_sum", "sum of a row given to the loss, last batch"),
    Row("spread", "nats between the log-probabilities of a row, after training", (1, ANY)),
    Row("double_normalisation.log_prob_spread", "nats between the log-probabilities of a row, last measured step"),
    Row("double_normalisation.lowest_loss", "lowest loss of a step (nats)"),
    Row("output_gradient.answers", "outputs (rows) with a gradient in the first step"),
    Row("output_gradient.passes", "forward passes in the first step"),
    Row("output_gradient.backwards", "backward() calls in the first step"),
    Row("output_gradient.weight", "sum of the weights of all outputs in the first step", (0, 2)),
    Row("output_gradient.asked_label_share", "share of outputs pushed toward their label", (0.95, 1)),
    Row("output_gradient.asked_input_share", "share of outputs pushed toward the input token there", (0, 0.5)),
    Row("output_gradient.even_share", "share of the gradient toward equal probabilities", (0, 0.9)),
    Row("output_gradient.row_sum", "sum of a row's gradient over its size", (0, 1e-3)),
    Row("output_gradient.column_sum", "sum of a class's gradient over its size", (1e-3, 1.01)),
    Row("output_gradient.beyond_share", "share of outputs after the end of their input", (0, 0.05)),
)


def measure(run: Run) -> dict[str, Any]:
    """One sample's values and gradients. Raises NotApplicable if the model cannot be called, and the step not repeated."""
    batch = batches(run)[0]
    model = model_of(run, batch)
    numbers: dict[str, Any] = {}
    try:
        seen = _loss_call.first(run, model)
    except NotApplicable as why:
        seen, numbers["not_repeated"] = _loss_call.from_trace(run), str(why)
    trained = _loss_rows.trained(run, batch, model, seen)
    given = seen.given if seen.given is not None else seen.output if seen.output is not None else trained
    if given is None or not given.ndim:
        raise NotApplicable("neither the loss's input nor the model's output was seen")
    target = seen.target if seen.target is not None else batch.targets
    numbers |= _sizes(run, seen, given, target) | _spread(run, seen, trained)
    return numbers | (_loss_rows.rows if _loss_rows.is_table(given, target) else _loss_rows.column)(
        seen, given, target, trained
    )


def _sizes(run: Run, seen: _loss_call.LossCall, given: torch.Tensor, target: torch.Tensor | None) -> dict[str, Any]:
    finite = given[torch.isfinite(given)]
    logits = seen.function in _loss_call.LOGITS or (not seen.function and bool(run.trace.graph.classes))
    numbers: dict[str, Any] = {"given_shape": str(tuple(given.shape)).replace(",)", ")")}
    if seen.function or (seen.given is None and seen.output is not None):
        numbers["function"] = seen.function or "written by hand, from the model's output"
    if target is not None:
        numbers["target_shape"] = str(tuple(target.shape)).replace(",)", ")")
    if finite.numel():
        low = "smallest_logit" if logits and finite.numel() >= FEW else "smallest"
        numbers |= {low: float(finite.min()), "largest": float(finite.max())}
    if seen.reduced is not None and seen.output is not None:
        rows = seen.output.numel() // (seen.output.shape[-1] if seen.output.ndim > 1 else 1)
        several = seen.target.numel() if seen.target is not None else rows
        numbers["averaged"] = 1.0 if seen.reduced == seen.output.numel() else seen.reduced / max(1, several)
    return numbers


def _spread(run: Run, seen: _loss_call.LossCall, trained: torch.Tensor | None) -> dict[str, float]:
    """Nats between the largest and the smallest log-probability of a row, on average."""
    classes = seen.function in _loss_call.CLASSES or (not seen.function and bool(run.trace.graph.classes))
    if not classes or trained is None or trained.ndim < 2 or not torch.isfinite(trained).all():
        return {}
    axis = -1 if not seen.function or trained.ndim == 2 else 1
    return {"spread": float((trained.amax(axis) - trained.amin(axis)).mean())}


def draw(numbers: dict[str, Any], figure: Any) -> None:
    """Draw what the loss is given, and the gradient beside it."""
    left, right = figure.subplots(1, 2)
    x, width, of = numbers.get("x", []), numbers.get("width", 0.0), numbers.get("of", "class")
    part = f" ({len(x)} of {width:.0f}{', largest gradients' if of != 'sample' else ''})" if len(x) < width else ""
    for ax, ylabel in ((left, "given to the loss"), (right, "gradient of the loss")):
        _draw.prepare(ax, "", of + part, ylabel)
        ax.axhline(0, color=_draw.GREY, linewidth=0.6)
    drawn = [
        _series(left, numbers, "given", "first step", 0),
        _series(left, numbers, "trained", "after training", 1),
    ]
    if any(drawn):
        _targets(left, numbers, ("given", "trained"))
        left.legend(
            frameon=False, labelcolor=_draw.GREY, fontsize=7.5, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3,
            columnspacing=1.0, handletextpad=0.4,
        )  # fmt: skip
    else:
        _draw.absent(left, "what the loss was given\nis not finite or not known")
    if _series(right, numbers, "gradient", "", 0):
        _targets(right, numbers, ("gradient",))
    else:
        _draw.absent(right, "no gradient: the first step\ncannot be repeated")
    for ax in (left, right):
        step = -(-len(x) // 12) or 1
        ax.set_xticks(range(0, len(x), step), [str(one) for one in x[::step]], fontsize=8)


def _series(ax: Any, numbers: dict[str, Any], key: str, label: str, place: int) -> bool:
    """Draw one point a class or sample; return False without any that is finite."""
    found = [(at, value) for at, value in enumerate(numbers.get(key, [])) if math.isfinite(value)]
    if not found:
        return False
    style = "os"[place] + (":" if numbers.get("of") != "sample" else "")
    size = (5 if len(found) <= _loss_rows.SAMPLES else 3) - place
    ax.plot(
        *zip(*found, strict=True), style, color=_draw.COLOURS[place], label=label or None, linewidth=0.6, markersize=size,
        fillstyle="none" if place else "full",
    )  # fmt: skip
    return True


def _targets(ax: Any, numbers: dict[str, Any], keys: tuple[str, ...]) -> None:
    """Ring the target in each series, or draw the target values of samples."""
    places = [numbers["x"].index(one) for one in numbers.get("targets", []) if one in numbers["x"]]
    points = [(at, numbers[key][at]) for key in keys for at in places if at < len(numbers.get(key, []))]
    label = "target is 1" if numbers.get("of") == "sample" else "target"
    if "gradient" not in keys and numbers.get("values"):
        points, label = list(enumerate(numbers["values"])), "target"
    if points:
        ax.plot(
            *zip(*points, strict=True), "o", color=_draw.GREY, fillstyle="none", markersize=11, markeredgewidth=1.4,
            label=label,
        )  # fmt: skip
