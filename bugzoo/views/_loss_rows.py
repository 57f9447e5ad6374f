"""One sample of a `LossCall` in numbers: what the loss is given, before and after training, and its gradient."""

import math
from typing import Any

import torch

from bugzoo.rerun.model import call, quiet
from bugzoo.running.result import Run
from bugzoo.views._loss_call import CLASSES, LossCall

SHOWN, SAMPLES = 64, 24
"""Most classes and samples that are drawn."""


def trained(run: Run, batch: Any, model: torch.nn.Module, seen: LossCall) -> torch.Tensor | None:
    """What the loss would be given after training, of the same batch; None if that is not known."""
    try:
        with quiet(model):
            output = call(model, batch.args, batch.kwargs)
    except Exception:  # a script may do anything when its model is called again
        return None
    if seen.given is None or seen.output is None:
        rows_sum_to_one = output.ndim > 1 and torch.allclose(output.sum(-1), torch.ones_like(output[..., 0]), atol=1e-3)
        doubled = seen.given is None and run.trace.graph.softmax_before_loss
        return output.softmax(-1) if doubled and not rows_sum_to_one else output
    for step in (
        _STEPS if seen.output.ndim > 1 else _STEPS[:4]
    ):  # what the script does between the model and the loss, found from the numbers
        with_it = step(seen.output)
        if with_it.numel() == seen.given.numel() and torch.allclose(
            with_it.reshape(seen.given.shape), seen.given, atol=1e-4, rtol=1e-3, equal_nan=True
        ):
            made = step(output)
            return made.reshape(seen.given.shape) if made.numel() == seen.given.numel() else None
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


def rows(
    seen: LossCall, given: torch.Tensor, target: torch.Tensor | None, trained: torch.Tensor | None
) -> dict[str, Any]:
    """Of one sample with several outputs: its values and gradients, at most SHOWN of them."""
    axis = 1 if seen.function in CLASSES and given.ndim > 2 else -1
    table = given.movedim(axis, -1).flatten(0, -2)
    gradient = _matching(seen, table, axis)
    counted = gradient.abs().sum(1) > 0 if gradient is not None else torch.ones(len(table), dtype=torch.bool)
    row = int(counted.float().argmax())
    width, shown = table.shape[1], torch.arange(table.shape[1])
    labels = _labels(target, row, len(table), width)
    if width > SHOWN:
        size = table[row].abs() if gradient is None else gradient[row].abs()
        size[labels] = math.inf
        shown = size.cpu().nan_to_num().topk(SHOWN).indices.sort().values
    numbers: dict[str, Any] = {
        "x": shown.tolist(), "width": float(width), "targets": labels, "of": "class",
        "given": table[row].cpu()[shown].tolist() if seen.output is not None else [],
    }  # fmt: skip
    if gradient is not None:
        numbers["gradient"] = gradient[row].cpu()[shown].tolist()
    if target is not None and target.numel() == table.numel() and not seen.binary:
        at_row = target.detach().float().movedim(axis, -1).reshape(-1, width)[row].cpu()
        numbers |= {"values": at_row[shown].tolist(), "targets": [], "of": "output"}
    if trained is not None and trained.shape[axis] == width and trained.numel() == table.numel():
        numbers["trained"] = trained.movedim(axis, -1).flatten(0, -2)[row].cpu()[shown].tolist()
    return numbers


def _matching(seen: LossCall, table: torch.Tensor, axis: int) -> torch.Tensor | None:
    """(rows, outputs) gradient at the model's output, else at the loss's input; None if neither was seen."""
    found = seen.output_gradient
    if found is not None and found.ndim > 1 and found.shape[axis] == table.shape[1] and found.numel() == table.numel():
        return found.movedim(axis, -1).flatten(0, -2)
    found = seen.given_gradient
    return None if found is None else found.movedim(axis, -1).flatten(0, -2)


def _labels(target: torch.Tensor | None, row: int, rows: int, width: int) -> list[int]:
    """The outputs that a row's target names."""
    if target is None or target.numel() not in (rows, rows * width):
        return []
    if target.numel() == rows:
        label = int(target.flatten()[row])
        return [label] if not target.is_floating_point() and 0 <= label < width else []
    return torch.nonzero(target.reshape(rows, -1)[row] > 0.5).flatten().tolist()[:SHOWN]


def column(
    seen: LossCall, given: torch.Tensor, target: torch.Tensor | None, trained: torch.Tensor | None
) -> dict[str, Any]:
    """Of samples with one output each: their values, targets and gradients, at most SAMPLES of them."""
    flat = {"given": given if seen.output is not None else None, "trained": trained}
    at_output, at_loss = seen.output_gradient, seen.given_gradient
    same = at_output is not None and at_output.numel() == given.numel()
    flat |= {"gradient": at_output if same else at_loss}
    numbers: dict[str, Any] = {
        key: one.flatten()[:SAMPLES].tolist() for key, one in flat.items() if one is not None and one.ndim
    }
    count = max((len(one) for one in numbers.values()), default=0)
    numbers |= {"x": list(range(count)), "width": float(given.numel()), "of": "sample"}
    if target is not None and target.ndim and target.numel() == given.numel():
        values = target.flatten()[:SAMPLES].float().tolist()
        if seen.binary:  # a class, not a value on the axis of the logits
            numbers["targets"] = [place for place, value in enumerate(values) if value > 0.5]
        else:
            numbers["values"] = values
    return numbers
