"""Compute the run's own loss again on a kept batch."""

import torch
import torch.nn.functional as F

from bugzoo.errors import NotApplicable
from bugzoo.rerun.model import main_output
from bugzoo.watching.live import Batch


def again(model: torch.nn.Module, batch: Batch, operation: str) -> torch.Tensor:
    """Return the mean loss of `model` on `batch`, a scalar with its graph. `operation` is the trace's `loss_op`.

    Raises NotApplicable for a loss that keeps no targets, or whose targets do not match the model's output.
    """
    output, targets = main_output(model(*batch.args, **batch.kwargs)), batch.targets
    if targets is None:
        raise NotApplicable(f"the loss ({operation or 'unknown'}) keeps no targets, so it cannot be computed again")
    if operation.startswith("NllLoss"):
        return _cross_entropy(output, targets)
    if output.numel() != targets.numel():
        raise NotApplicable(f"output {tuple(output.shape)} and targets {tuple(targets.shape)} do not match")
    output = output.reshape(targets.shape)
    if operation.startswith("MseLoss"):
        return F.mse_loss(output, targets)
    if operation.startswith("BinaryCrossEntropyWithLogits"):
        return F.binary_cross_entropy_with_logits(output, targets)
    raise NotApplicable(f"bugzoo cannot compute {operation or 'this loss'} again")


def _cross_entropy(output: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    rows = targets.numel()
    for candidate in (output, output[:, :-1] if output.ndim == 3 else output, output.transpose(1, -1)):
        if candidate.ndim >= 2 and candidate.numel() // candidate.shape[-1] == rows:
            if int(targets.max()) < candidate.shape[-1]:
                return F.cross_entropy(candidate.reshape(rows, -1), targets.reshape(-1).long())
    raise NotApplicable(f"output {tuple(output.shape)} and targets {tuple(targets.shape)} do not match")
