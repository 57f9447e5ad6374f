"""One sample of a `LossCall` in numbers: what the loss is given, before and after training, and its gradient."""

import math
from dataclasses import dataclass, field
from typing import Any

import torch

from bugzoo.rerun.model import call, quiet
from bugzoo.running.result import Run
from bugzoo.views._loss_call import CLASSES, LossCall
from bugzoo.views._seen import Seen

SHOWN, SAMPLES = 64, 24
"""Most classes and samples that are drawn."""


@dataclass(kw_only=True)
class Series(Seen):
    """Lists over the classes or outputs of one sample, or over samples: those of the `width` that `x` lists.

    `of`: "class", "output" or "sample". `targets`: which of the `width` a target names. `values`: targets that are numbers.
    """

    x: list[int] = field(default_factory=list)
    width: float = 0.0
    of: str = "class"
    given: list[float] | None = None
    trained: list[float] | None = None
    gradient: list[float] | None = None
    targets: list[int] | None = None
    values: list[float] | None = None


def trained(run: Run, batch: Any, model: torch.nn.Module, loss: LossCall) -> torch.Tensor | None:
    """What the loss would be given after training, of the same batch; None if that is not known."""
    try:
        with quiet(model):
            output = call(model, batch.args, batch.kwargs)
    except Exception:  # a script may do anything when its model is called again
        return None
    if loss.given is None or loss.output is None:
        rows_sum_to_one = output.ndim > 1 and torch.allclose(output.sum(-1), torch.ones_like(output[..., 0]), atol=1e-3)
        doubled = loss.given is None and run.trace.graph.softmax_before_loss
        return output.softmax(-1) if doubled and not rows_sum_to_one else output
    # what the script does between the model and the loss, found from the numbers
    for step in _STEPS if loss.output.ndim > 1 else _STEPS[:4]:
        with_it = step(loss.output)
        if with_it.numel() == loss.given.numel() and torch.allclose(
            with_it.reshape(loss.given.shape), loss.given, atol=1e-4, rtol=1e-3, equal_nan=True
        ):
            now = step(output)
            return now.reshape(loss.given.shape) if now.numel() == loss.given.numel() else None
    return None


def _apart(x: torch.Tensor) -> torch.Tensor:
    return x[..., 1] - x[..., 0] if x.ndim > 1 and x.shape[-1] == 2 else x


def _flat(x: torch.Tensor) -> torch.Tensor:
    return x.reshape(-1, x.shape[-1])


_STEPS = (
    lambda x: x, lambda x: x.softmax(-1), lambda x: x.log_softmax(-1), lambda x: x.sigmoid(), _apart,
    lambda x: _apart(x).sigmoid(), lambda x: _flat(x).log_softmax(0), lambda x: _flat(x).softmax(0), lambda x: x[:, :-1],
)  # fmt: skip


def is_table(given: torch.Tensor, target: torch.Tensor | None) -> bool:
    """Is a sample a row of classes or outputs, not one number?"""
    return given.ndim > 1 and given.shape[-1] > 1 and (target is None or not target.ndim or len(target) > 1)


def rows(loss: LossCall, given: torch.Tensor, target: torch.Tensor | None, trained: torch.Tensor | None) -> Series:
    """Of one sample with several outputs: its values and gradients, at most SHOWN of them."""
    axis = 1 if loss.function in CLASSES and given.ndim > 2 else -1
    table = given.movedim(axis, -1).flatten(0, -2)
    gradient = _matching(loss, table, axis)
    counted = gradient.abs().sum(1) > 0 if gradient is not None else torch.ones(len(table), dtype=torch.bool)
    row = int(counted.float().argmax())
    width, places = table.shape[1], torch.arange(table.shape[1])
    labels = _labels(target, row, len(table), width)
    if width > SHOWN:
        size = table[row].abs() if gradient is None else gradient[row].abs()
        size[labels] = math.inf
        places = size.cpu().nan_to_num().topk(SHOWN).indices.sort().values
    series = Series(x=places.tolist(), width=float(width), targets=labels)
    series.given = table[row].cpu()[places].tolist() if loss.output is not None else []
    if gradient is not None:
        series.gradient = gradient[row].cpu()[places].tolist()
    if target is not None and target.numel() == table.numel() and not loss.binary:
        at_row = target.detach().float().movedim(axis, -1).reshape(-1, width)[row].cpu()
        series.values, series.targets, series.of = at_row[places].tolist(), [], "output"
    if trained is not None and trained.shape[axis] == width and trained.numel() == table.numel():
        series.trained = trained.movedim(axis, -1).flatten(0, -2)[row].cpu()[places].tolist()
    return series


def _matching(loss: LossCall, table: torch.Tensor, axis: int) -> torch.Tensor | None:
    """(rows, outputs) gradient at the model's output, else at the loss's input; None if neither was loss."""
    at_output, gradient = loss.output_gradient, loss.given_gradient
    if at_output is not None and at_output.ndim > 1 and at_output.numel() == table.numel():
        gradient = at_output if at_output.shape[axis] == table.shape[1] else gradient
    return None if gradient is None else gradient.movedim(axis, -1).flatten(0, -2)


def _labels(target: torch.Tensor | None, row: int, rows: int, width: int) -> list[int]:
    """The outputs that a row's target names."""
    if target is None or target.numel() not in (rows, rows * width):
        return []
    if target.numel() == rows:
        label = int(target.flatten()[row])
        return [label] if not target.is_floating_point() and 0 <= label < width else []
    return torch.nonzero(target.reshape(rows, -1)[row] > 0.5).flatten().tolist()[:SHOWN]


def column(loss: LossCall, given: torch.Tensor, target: torch.Tensor | None, trained: torch.Tensor | None) -> Series:
    """Of samples with one output each: their values, targets and gradients, at most SAMPLES of them."""
    gradient = loss.output_gradient
    if gradient is None or gradient.numel() != given.numel():
        gradient = loss.given_gradient
    series = Series(
        width=float(given.numel()), of="sample", given=_first(given if loss.output is not None else None),
        trained=_first(trained), gradient=_first(gradient),
    )  # fmt: skip
    series.x = list(range(max(len(values or []) for values in (series.given, series.trained, series.gradient))))
    if target is not None and target.ndim and target.numel() == given.numel():
        values = target.flatten()[:SAMPLES].float().tolist()
        if loss.binary:  # a class, not a value on the axis of the logits
            series.targets = [place for place, value in enumerate(values) if value > 0.5]
        else:
            series.values = values
    return series


def _first(tensor: torch.Tensor | None) -> list[float] | None:
    """Return the first numbers; None without a tensor, and of a single number."""
    return tensor.flatten()[:SAMPLES].tolist() if tensor is not None and tensor.ndim else None
