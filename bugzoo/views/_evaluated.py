"""What the view `evaluation` measures itself: the script's own evaluation and its last training batches, by class."""

import ast
import math
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader

from bugzoo.diagnostics._tools import batches, model_of
from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.rerun.evaluation import evaluated
from bugzoo.rerun.look import Evaluated
from bugzoo.rerun.loss import again
from bugzoo.rerun.model import call, live, quiet
from bugzoo.running.result import Run
from bugzoo.syntax import parse

CLASSES, COMMONEST, BINS, LAST = 60, 30, 12, 4
"""Classes that are drawn; how many of more; bins of a histogram; last kept batches for the training numbers."""
NAMES = {
    "cross_entropy": "cross-entropy, nats",
    "nll_loss": "negative log-likelihood, nats",
    "mse_loss": "mean squared",
}


def said(run: Run) -> dict[str, Any]:
    """The script's own final accuracy and loss."""
    numbers = {f"said_{name}": run.trace.metrics[name] for name in ("accuracy", "loss") if name in run.trace.metrics}
    if not numbers:
        raise NotApplicable("the script has no dict `metrics` with an accuracy or a loss")
    return numbers


def trained(run: Run) -> dict[str, Any]:
    """Accuracy and loss on the last kept training batches, in eval mode with the final weights.

    Raises NotApplicable where the training ended with another model, or the same one with another head.
    """
    kept = batches(run)
    if live(run).batches[-1] is not kept[-1]:
        raise NotApplicable("the last kept batch is that of another model")
    try:
        ignored = evaluated(run).ignored
    except NotApplicable:
        ignored = -100
    right = labels = rows = 0
    summed = 0.0
    for batch in kept[-LAST:]:
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
    numbers = {"train_accuracy": right / labels} if labels else {}
    numbers |= {"train_loss": summed / rows} if rows else {}
    if not numbers:
        raise NotApplicable("neither accuracy nor loss can be computed again on the kept training batches")
    return numbers


def asked(run: Run) -> dict[str, Any]:
    """Recall and frequency of each class, or histograms of the targets, in the script's evaluation and in training."""
    found = evaluated(run)
    if not found.pairs:
        raise NotApplicable("the script's evaluation computes no loss")
    numbers: dict[str, Any] = {"loss_name": NAMES.get(found.kind, found.kind.replace("_", " ")), "loss": found.loss()}
    kept = [one.targets.flatten().cpu() for one in batches(run) if one.targets is not None]
    known = torch.cat(kept) if kept else torch.empty(0)
    return numbers | (_by_class(found, known) if found.classifies else _spread(found, known.float()))


def _by_class(found: Evaluated, known: torch.Tensor) -> dict[str, Any]:
    """`one_label`: the loss has one label for each sample that the model gets, and not one for each token."""
    known = known[(known != found.ignored) & (known >= 0)].long()
    y = torch.cat([one.flatten().long().cpu() for _, one in found.pairs])
    right = torch.cat([(x.argmax(-1) == one).flatten().cpu() for x, one in found.pairs]).double()
    most = int(max([*y.tolist(), *known.tolist(), 0])) + 1
    count, hits = torch.bincount(y.clamp(min=0), minlength=most), torch.bincount(y.clamp(min=0), right, minlength=most)
    known_count = torch.bincount(known, minlength=most)
    recall = hits / count  # NaN for a class that the evaluation does not have
    some = (count + known_count).nonzero().flatten()
    shown = some if len(some) <= CLASSES else some[count[some].argsort(descending=True, stable=True)[:COMMONEST]]
    numbers = {
        "accuracy": float(right.mean()),
        "one_label": float({len(one) for _, one in found.pairs} <= {len(x) for x in found.inputs}),
        "by_class": len(shown) == len(some),
        "classes": [float(one) for one in shown],
        "recalls": recall[shown].tolist(),
        "validation_shares": (count[shown] / count.sum()).tolist(),
        "train_shares": (known_count[shown] / known_count.sum()).tolist() if len(known) else [],
    }
    if numbers["one_label"]:
        balanced = float(recall[count > 0].mean())
        numbers |= {"balanced": balanced, "over_balanced": numbers["accuracy"] - balanced}
    return numbers


def _spread(found: Evaluated, known: torch.Tensor) -> dict[str, Any]:
    """Shares of the targets in bins of equal width: edges, validation, training."""
    asked = torch.cat([y.flatten().float().cpu() for _, y in found.pairs])
    every = torch.cat([asked, known])
    every = every[torch.isfinite(every)]
    if not len(every) or float(every.max()) <= float(every.min()):
        return {}
    edges = np.histogram_bin_edges(every.numpy(), BINS)
    shares = [np.histogram(one[torch.isfinite(one)].numpy(), edges)[0] / max(1, len(one)) for one in (asked, known)]
    return {
        "edges": edges.tolist(),
        "validation_shares": shares[0].tolist(),
        "train_shares": shares[1].tolist() if len(known) else [],
    }


def loaders(run: Run) -> dict[str, Any]:
    """How many of the script's loaders its text never names again."""
    names = run.namespace or live(run).namespace
    own = {name for name, one in names.items() if isinstance(one, DataLoader)}
    used = {
        node.id for node in ast.walk(parse(run.source)) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    if not own:
        raise NotApplicable("the script has no DataLoader among its variables")
    return {"unread": float(len(own - used))}


def places(run: Run) -> dict[str, Any]:
    """How many places of the script evaluate the first batch that the reported evaluation reads."""
    first = evaluated(run).inputs[0]
    given = [one.args[0] for one in live(run).evaluations if one.args and isinstance(one.args[0], torch.Tensor)]
    same = sum(one.shape == first.shape and torch.equal(one.to(first.device), first) for one in given)
    if not same:
        raise NotApplicable("the reported evaluation was not seen while the script ran")
    return {"places": float(same)}


def finite(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
