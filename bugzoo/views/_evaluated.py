"""What the view `evaluation` measures itself: the script's own evaluation and its last training batches, by class."""

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.utils.data import DataLoader

from bugzoo.diagnostics._tools import batches, model_of
from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.rerun.evaluation import evaluated
from bugzoo.rerun.look import Evaluated
from bugzoo.rerun.loss import again
from bugzoo.rerun.model import call, live, quiet, variables
from bugzoo.running.result import Run
from bugzoo.syntax import last_name, parse

if TYPE_CHECKING:
    from bugzoo.views.evaluation import Numbers

CLASSES, COMMONEST, BINS, LAST = 60, 30, 12, 4
"""Classes that are drawn; how many of more; bins of a histogram; last kept batches for the training numbers."""
NAMES = {
    "cross_entropy": "cross-entropy, nats",
    "nll_loss": "negative log-likelihood, nats",
    "mse_loss": "mean squared",
}


def reported(numbers: "Numbers", run: Run) -> None:
    """Add the script's own final accuracy and loss."""
    metrics = run.trace.metrics
    numbers.said_accuracy, numbers.said_loss = metrics.get("accuracy"), metrics.get("loss")
    if numbers.said_accuracy is None and numbers.said_loss is None:
        raise NotApplicable("the script has no dict `metrics` with an accuracy or a loss")


def trained(numbers: "Numbers", run: Run) -> None:
    """Add accuracy and loss on the last kept training batches, in eval mode with the final weights.

    Raises NotApplicable where the training ended with another model, or the same one with another head.
    """
    measured = batches(run)
    if live(run).batches[-1] is not measured[-1]:
        raise NotApplicable("the last kept batch is that of another model")
    try:
        ignored = evaluated(run).ignored
    except NotApplicable:
        ignored = -100
    right = labels = rows = 0
    summed = 0.0
    for batch in measured[-LAST:]:
        y = batch.targets
        if y is None or not y.numel():
            continue
        classes = not y.is_floating_point()
        y = y.masked_fill(y == ignored, -100) if classes else y
        with quiet(model_of(run, batch)) as model:
            answers = call(model, batch.args, batch.kwargs)
            try:
                summed += float(again(model, replace(batch, targets=y), run.trace.graph.loss_op)) * len(y)
                rows += len(y)
            except NotApplicable:
                pass
        if classes and answers.ndim > 1 and answers.numel() // answers.shape[-1] == y.numel():
            right += int((answers.argmax(-1).flatten() == y.flatten()).sum())
            labels += int((y >= 0).sum())
    numbers.train_accuracy = right / labels if labels else None
    numbers.train_loss = summed / rows if rows else None
    if not labels and not rows:
        raise NotApplicable("neither accuracy nor loss can be computed again on the kept training batches")


def recomputed(numbers: "Numbers", run: Run) -> None:
    """Add the loss of the script's evaluation, recall and frequency of each class, or histograms of the targets."""
    evaluation = evaluated(run)
    if not evaluation.pairs:
        raise NotApplicable("the script's evaluation computes no loss")
    targets = [batch.targets.flatten().cpu() for batch in batches(run) if batch.targets is not None]
    trained_on = torch.cat(targets) if targets else torch.empty(0)
    numbers.loss_name = NAMES.get(evaluation.kind, evaluation.kind.replace("_", " "))
    numbers.loss = evaluation.loss()
    if evaluation.classifies:
        _by_class(numbers, evaluation, trained_on)
    else:
        _spread(numbers, evaluation, trained_on.float())


def _by_class(numbers: "Numbers", evaluation: Evaluated, trained_on: torch.Tensor) -> None:
    trained_on = trained_on[(trained_on != evaluation.ignored) & (trained_on >= 0)].long()
    y = torch.cat([targets.flatten().long().cpu() for _, targets in evaluation.pairs])
    right = torch.cat([(x.argmax(-1) == targets).flatten().cpu() for x, targets in evaluation.pairs]).double()
    most = int(max([*y.tolist(), *trained_on.tolist(), 0])) + 1
    count, hits = torch.bincount(y.clamp(min=0), minlength=most), torch.bincount(y.clamp(min=0), right, minlength=most)
    trained_count = torch.bincount(trained_on, minlength=most)
    recall = hits / count  # NaN for a class that the evaluation does not have
    some = (count + trained_count).nonzero().flatten()
    chosen = some if len(some) <= CLASSES else some[count[some].argsort(descending=True, stable=True)[:COMMONEST]]
    numbers.accuracy = float(right.mean())
    numbers.one_label = float({len(targets) for _, targets in evaluation.pairs} <= {len(x) for x in evaluation.inputs})
    numbers.by_class = len(chosen) == len(some)
    numbers.classes, numbers.recalls = [float(label) for label in chosen], recall[chosen].tolist()
    numbers.validation_shares = (count[chosen] / count.sum()).tolist()
    numbers.train_shares = (trained_count[chosen] / trained_count.sum()).tolist() if len(trained_on) else []
    if numbers.one_label:
        numbers.balanced = float(recall[count > 0].mean())
        numbers.over_balanced = numbers.accuracy - numbers.balanced


def _spread(numbers: "Numbers", evaluation: Evaluated, trained_on: torch.Tensor) -> None:
    """Add shares of the targets in bins of equal width."""
    targets = torch.cat([y.flatten().float().cpu() for _, y in evaluation.pairs])
    every = torch.cat([targets, trained_on])
    every = every[torch.isfinite(every)]
    if not len(every) or float(every.max()) <= float(every.min()):
        return
    edges = np.histogram_bin_edges(every.numpy(), BINS)
    shares = [np.histogram(y[torch.isfinite(y)].numpy(), edges)[0] / max(1, len(y)) for y in (targets, trained_on)]
    numbers.edges, numbers.validation_shares = edges.tolist(), shares[0].tolist()
    numbers.train_shares = shares[1].tolist() if len(trained_on) else []


def loaders(numbers: "Numbers", run: Run) -> None:
    """Add how many of the script's loaders its text never names again."""
    names = variables(run)
    dataloaders = {name for name, value in names.items() if isinstance(value, DataLoader)}
    words = (node for node in ast.walk(parse(run.source)) if isinstance(node, ast.Name | ast.Attribute))
    used = {last_name(word) for word in words if isinstance(word.ctx, ast.Load)}
    if not dataloaders:
        raise NotApplicable("the script has no DataLoader among its variables")
    numbers.unread = float(len(dataloaders - used))


def places(numbers: "Numbers", run: Run) -> None:
    """Add how many places of the script evaluate the first batch that the reported evaluation reads."""
    first = evaluated(run).inputs[0]
    arguments = [record.args[0] for record in live(run).evaluations if record.args]
    inputs = [x for x in arguments if isinstance(x, torch.Tensor)]
    same = sum(x.shape == first.shape and torch.equal(x.to(first.device), first) for x in inputs)
    if not same:
        raise NotApplicable("the reported evaluation was not seen while the script ran")
    numbers.places = float(same)
