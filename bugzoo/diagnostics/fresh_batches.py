"""Does each step get a batch of its own?

A batch that was fetched once, for a test with one batch, and is still in the loop: the loss falls faster than ever, to zero, and
nothing else is learnt. The batches that were kept are compared by their targets, which augmentation leaves as they are.
"""

import gc
from typing import Any

import torch
from torch.utils.data import DataLoader

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import batches, pick, share
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.model import tensors
from bugzoo.running.result import Run

COST = 0
SHOWN = {
    "batches": ("batches looked at", ""),
    "repeated_share": ("share of them that were the first one again", "0"),
    "loader_batches": ("batches that the largest loader deals", ""),
}
_LOADER = (
    "for epoch",
    "loader = torch.utils.data.DataLoader(torch.arange(256), 32, shuffle=True)\n{}for epoch",
)
_ROWS = "for rows in torch.randperm(256).split(32):"
HEALTHY = example((_LOADER[0], _LOADER[1].format("")), (_ROWS, "for rows in loader:"))
SICK = example(
    (_LOADER[0], _LOADER[1].format("one = next(iter(loader))\n")), (_ROWS, "for rows in [one] * len(loader):")
)
LEAST = 8
"""Targets in a batch below which two may be equal by chance."""


def measure(run: Run) -> dict[str, Any]:
    """Counts and a share between 0 and 1. Raises NotApplicable where fewer than 3 batches were kept."""
    found = [_said(batch) for batch in batches(run)]
    first = found[0]
    later = [one for one in found[1:] if one is not None]
    if first is None or first.numel() < LEAST or len(later) < 2:
        raise NotApplicable("fewer than 3 batches of some size were kept")
    same = [one.shape == first.shape and torch.equal(one, first) for one in later]
    return {
        "batches": float(len(later) + 1),
        "repeated_share": sum(same) / len(same),
        "loader_batches": float(_largest_loader(run)),
    }


def _said(batch: Any) -> torch.Tensor | None:
    """The targets of a batch, or else the first tensor that its model was called with."""
    if batch.targets is not None and batch.targets.numel() > 1 and batch.targets.unique().numel() > 1:
        return batch.targets
    return next(iter(tensors((batch.args, batch.kwargs))), None)


def _largest_loader(run: Run) -> int:
    """Batches of the largest loader that is alive; 0 where there is none, or where none has a length."""
    most = 0
    for one in gc.get_objects():
        if issubclass(type(one), DataLoader):  # isinstance() asks a lazy module for its __class__
            try:
                most = max(most, len(one))
            except TypeError:  # of a stream
                continue
    return most


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires when all batches were the same one, although there is a loader of more."""
    shown = pick(numbers, "batches", "repeated_share", "loader_batches")
    repeated, loader = numbers["repeated_share"], numbers["loader_batches"]
    if repeated > 0.9 and loader > 1:
        text = f"{share(repeated)} of the batches that were looked at were the first one again; a loader deals {loader:.0f}"
        return Verdict("fresh_batches", True, text, shown, (Suspect("loop/same_batch_forever", 0.9, text),))
    return Verdict("fresh_batches", False, f"{share(repeated)} of the batches were the first one again", shown)
