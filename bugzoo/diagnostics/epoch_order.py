"""Does each epoch come in an order of its own?

A loader that shuffles deals the samples in another order each time, and the gradients of an epoch are not those of the epoch
before. A DistributedSampler does so only when it is told the number of the epoch; a generator that is made anew for every epoch
begins the same way again. The batches that the loader would deal now, after the training, are compared with those that it dealt
first, by their targets, which augmentation leaves as they are: `repeated` is the share that is the same, 0 is right.
"""

from typing import Any

import torch
from torch.utils.data import RandomSampler

from bugzoo.diagnostics._data import training_loader
from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import need_steps, pick
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.model import tensors
from bugzoo.rerun.permit import permitted
from bugzoo.rerun.restore import same_random
from bugzoo.running.result import Run

COST = 1
SHOWN = {
    "repeated": ("share of the first batches that the last epoch begins with as well", "0"),
    "epochs": ("epochs that were trained", ""),
}
_LOADER = (
    "for epoch",
    "data = torch.utils.data.TensorDataset(inputs, targets)\n"
    "sampler = torch.utils.data.DistributedSampler(data, num_replicas=2, rank=0)\n"
    "loader = torch.utils.data.DataLoader(data, 16, sampler=sampler)\nfor epoch",
)
_ROWS = ("    for rows in torch.randperm(256).split(32):", "    for x, y in loader:")
_BATCH = (("logits = model(inputs[rows])", "logits = model(x)"), ("targets[rows]", "y"))
HEALTHY = example(_LOADER, (_ROWS[0], f"    sampler.set_epoch(epoch)\n{_ROWS[1]}"), *_BATCH)
SICK = example(_LOADER, _ROWS, *_BATCH)
LEAST = 8
"""Targets in a batch below which two may be equal by chance."""


def measure(run: Run) -> dict[str, Any]:
    """A share and the number of epochs. Raises NotApplicable where no loader shuffles, or where there was one epoch only."""
    steps = need_steps(run, 2)
    loader = training_loader(run)
    if loader is None or loader.batch_sampler is None:
        raise NotApplicable("the training loop reads no DataLoader that deals batches")
    if not (isinstance(loader.sampler, RandomSampler) or getattr(loader.sampler, "shuffle", False)):
        raise NotApplicable("the loader of the training loop is not asked to shuffle")
    epochs = steps / max(len(loader), 1)
    if epochs < 2:
        raise NotApplicable("fewer than 2 epochs were trained")
    kept = [
        (batch.step, batch.targets.flatten().cpu())
        for batch in permitted(run).first_batches
        if batch.step <= len(loader) and batch.targets is not None and _tells(batch.targets)
    ]
    if not kept:
        raise NotApplicable("no batch with enough targets was kept")
    dealt = _dealt(loader, max(step for step, _ in kept))
    same = [any(torch.equal(targets, x) for x in dealt[step - 1]) for step, targets in kept]
    return {"repeated": sum(same) / len(same), "epochs": float(epochs)}


def _tells(targets: torch.Tensor) -> bool:
    return targets.numel() >= LEAST and targets.unique().numel() > 1


def _dealt(loader: Any, batches: int) -> list[list[torch.Tensor]]:
    """The flattened tensors of the first batches that the loader would deal now; generators stay as they are."""
    own = [one for one in {loader.generator, getattr(loader.sampler, "generator", None)} if one is not None]
    try:
        with same_random(*own):
            order = iter(loader.batch_sampler)
            rows = [next(order) for _ in range(batches)]
            fetched = [loader.collate_fn([loader.dataset[row] for row in some]) for some in rows]
    except Exception as error:  # a data set may do anything
        raise NotApplicable(f"the loader's batches cannot be fetched once more ({type(error).__name__})") from None
    return [[x.flatten().cpu() for x in tensors(batch)] for batch in fetched]


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires where the last epoch begins with the very batches that the first one began with."""
    shown = pick(numbers, *SHOWN)
    if numbers["repeated"] > 0.9:
        text = (
            f"after {numbers['epochs']:.0f} epochs the loader still deals the batches of the first one, in their order"
        )
        return Verdict("epoch_order", True, text, shown, (Suspect("distributed/set_epoch_missing", 0.85, text),))
    return Verdict("epoch_order", False, "the epochs come in orders of their own", shown)
