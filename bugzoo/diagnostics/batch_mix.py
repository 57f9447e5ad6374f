"""Does every batch hold a bit of everything?

The labels of each kept batch are compared with those of all of them: the entropy of a batch over that of the whole. Batches
that are drawn at random come close to 1. Where the data came sorted and nobody shuffled it, a batch holds one class or two,
each step pulls towards the class that is on, and the last one wins.
"""

from typing import Any

import torch

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import batches, pick
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.running.result import Run

COST = 1
SHOWN = {
    "mixed": ("variety of the labels in a batch, over that of all batches", "near 1"),
    "classes": ("classes in all batches that were looked at", ""),
    "classes_in_batch": ("classes in one batch, on average", ""),
    "batches": ("batches looked at", ""),
}
HEALTHY = example()
SICK = example(("torch.randperm(256).split(32)", "targets.argsort().split(32)"))
LITTLE, LEAST = 0.5, 8


def measure(run: Run) -> dict[str, Any]:
    """Entropies of labels. Raises NotApplicable below two batches of at least 8 class numbers each."""
    found = [batch.targets for batch in batches(run) if batch.targets is not None]
    labels = [y.detach().cpu().long() for y in found if not y.is_floating_point() and y.ndim == 1 and len(y) >= LEAST]
    if len(labels) < 2:
        raise NotApplicable("fewer than two batches with a class number for each row were kept")
    whole = torch.cat(labels)
    if len(whole.unique()) < 2:
        raise NotApplicable("all labels that were looked at are the same")
    # as many labels as a batch has can only show so much variety: the usual one is what drawing at random gives
    generator = torch.Generator().manual_seed(0)
    drawn = [whole[torch.randperm(len(whole), generator=generator)[: len(y)]] for y in labels]
    usual = sum(map(_entropy, drawn)) / len(drawn)
    own = sum(map(_entropy, labels)) / len(labels)
    return {
        "mixed": own / usual if usual > 0 else 1.0,
        "classes": float(len(whole.unique())),
        "classes_in_batch": sum(len(y.unique()) for y in labels) / len(labels),
        "batches": float(len(labels)),
    }


def _entropy(labels: torch.Tensor) -> float:
    """Nats."""
    shares = torch.bincount(labels.clamp(min=0)).double() / len(labels)
    shares = shares[shares > 0]
    return float(-(shares * shares.log()).sum())


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires when batches are less than half as varied as batches that are drawn at random."""
    shown = pick(numbers, "mixed", "classes", "classes_in_batch", "batches")
    text = f"a batch holds {numbers['classes_in_batch']:.1f} of {numbers['classes']:.0f} classes on average"
    if numbers["mixed"] >= LITTLE:
        return Verdict("batch_mix", False, text, shown)
    text += f", {numbers['mixed']:.0%} of the variety that drawing at random gives: it comes in the order of its labels"
    return Verdict("batch_mix", True, text, shown, (Suspect("data/no_shuffle", 0.85, text),))
