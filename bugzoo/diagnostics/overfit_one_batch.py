"""Can the model learn one small batch by heart?

A fresh copy of the model is trained on one batch of at most 32 samples. A healthy model reaches a small part of its
first loss within some hundred steps. If it cannot, three suspects: the model cannot pass on a gradient, its output
does not fit the loss, or the learning rate. If it can, and the real run does not learn, look at the loop and the data
instead: the copy here is trained with a plain loop of its own, so faults of the script's loop do not show.
"""

import copy
import math
import time
from types import SimpleNamespace
from typing import Any

import torch
from torch.utils._pytree import tree_map

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._loss import again
from bugzoo.diagnostics._tools import batches, model_of, pick, quiet
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict

COST = 1
HEALTHY = example()
SICK = example(("nn.Linear(32, 3)", "nn.Linear(32, 3), nn.Threshold(1e9, 0.0)"))
STEPS, SAMPLES, SECONDS = 150, 32, 4.0
ENOUGH = 0.1
"""Part of the first loss at which the question is answered; more steps could not change what `judge` says."""


def _few(batch: Any) -> Any:
    """The first samples of a batch; the batch as it is when its arguments do not share a first dimension."""
    if batch.targets is None or batch.targets.ndim == 0:
        return batch
    leading = [leaf for leaf in batch.args if isinstance(leaf, torch.Tensor) and leaf.ndim]
    if not leading or batch.kwargs or any(leaf.shape[0] != batch.targets.shape[0] for leaf in leading):
        return batch
    cut = tree_map(lambda leaf: leaf[:SAMPLES] if isinstance(leaf, torch.Tensor) and leaf.ndim else leaf, batch.args)
    return SimpleNamespace(args=cut, kwargs={}, targets=batch.targets[:SAMPLES])


def measure(run: Any) -> dict[str, Any]:
    """First and best loss on the batch and their ratio. Raises NotApplicable where the loss cannot be had."""
    operation = run.trace.graph.loss_op
    batch = batches(run)[0]
    original = model_of(run, batch)
    try:
        model = copy.deepcopy(original)
    except Exception as error:
        raise NotApplicable(f"the model cannot be copied ({type(error).__name__})") from error
    batch = _few(batch)
    with quiet(model, training=False), torch.enable_grad():
        torch.manual_seed(0)
        for module in model.modules():
            reset = getattr(module, "reset_parameters", None)
            if callable(reset):
                reset()
        trainable = [p for p in model.parameters() if p.requires_grad]
        if not trainable:
            raise NotApplicable("the model has no trainable parameters")
        optimizer = torch.optim.Adam(trainable, lr=3e-3, foreach=False)
        losses, began = [], time.perf_counter()
        for _ in range(STEPS):
            loss = again(model, batch, operation)
            gradients = torch.autograd.grad(loss, trainable, allow_unused=True)
            for parameter, gradient in zip(trainable, gradients, strict=True):
                parameter.grad = gradient
            _adam(optimizer)
            losses.append(loss.item())
            learnt = 0 < losses[-1] < ENOUGH * losses[0]
            if learnt or time.perf_counter() - began > SECONDS or not math.isfinite(losses[-1]):
                break
    finite = [value for value in losses if math.isfinite(value)]
    if len(finite) < 2:
        raise NotApplicable("the loss on the batch is not finite")
    return {"first_loss": finite[0], "best_loss": min(finite), "steps": float(len(losses)),
            "ratio": min(finite) / finite[0] if finite[0] > 0 else math.nan}  # fmt: skip


def _adam(optimizer: torch.optim.Optimizer) -> None:
    """One step that no global hook sees, so that a watch around the caller stays undisturbed."""
    step = type(optimizer).step
    getattr(step, "__wrapped__", step)(optimizer)


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires when the loss on one batch cannot be brought below 95 % of where it began."""
    shown = pick(numbers, "first_loss", "best_loss", "ratio", "steps")
    text = f"one batch: loss {numbers['first_loss']:.3g} -> {numbers['best_loss']:.3g} in {numbers['steps']:.0f} steps"
    if numbers["ratio"] > 0.95 and numbers["steps"] >= 40:
        text += ": a fresh copy of the model cannot learn even this by heart"
        return Verdict("overfit_one_batch", True, text, shown, (Suspect("initialisation/dead_relu", 0.3, text),))
    return Verdict("overfit_one_batch", False, text, shown)
