"""Are the batches shuffled, different from each other, and in a new order each epoch?

Three things are measured, each where it can be known. `mixed`: the entropy of the labels in a batch over that of random batches,
near 1 with shuffling; sorted data without a shuffle gives batches of one or two classes, each step pulls toward them, and
the last one wins. `same_batch_share`: the share of batches that are the first batch again, as when a one-batch overfit test stays
in the script. `repeated_epoch_share`: the batches that the loader would give now, after training, are compared with those it gave
first; 0 is right, and a DistributedSampler without set_epoch() gives 1. Batches are compared by their targets, which augmentation
does not change.
"""

import gc
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils.data import DataLoader, RandomSampler

from bugzoo.diagnostics._data import training_loader
from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import batches, need_steps, share
from bugzoo.diagnostics.conditions import Alarm, above, below
from bugzoo.diagnostics.numbers import TWICE, Measured, judges, optional
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.model import tensors
from bugzoo.rerun.permit import permitted
from bugzoo.rerun.restore import same_random
from bugzoo.running.result import Run

COST = 1
VIEW = "batch"
TITLE = "Order of the batches"
KNOWN_PROBLEMS = (
    "A false positive for full-batch training beside a DataLoader of several batches, and for continual learning with few "
    "classes per task. "
    "It misses sorted regression targets and batches of fewer than eight labels, and checks repeated epochs only for a "
    "shuffling DataLoader."
)
HEALTHY = example()
SICK = example(("torch.randperm(256).split(32)", "targets.argsort().split(32)"))
_DATA = "data = torch.utils.data.TensorDataset(inputs, targets)\n"
_ROWS = "    for rows in torch.randperm(256).split(32):"
_BATCH = (("logits = model(inputs[rows])", "logits = model(x)"), ("targets[rows]", "y"))
_LOADER = f"{_DATA}loader = torch.utils.data.DataLoader(data, 32, shuffle=True)\n"
_SAMPLER = (
    f"{_DATA}sampler = torch.utils.data.DistributedSampler(data, num_replicas=2, rank=0)\n"
    "loader = torch.utils.data.DataLoader(data, 16, sampler=sampler)\n"
)
FURTHER = (
    (
        example(("for epoch", f"{_LOADER}for epoch"), (_ROWS, "    for x, y in loader:"), *_BATCH),
        example(
            ("for epoch", f"{_LOADER}one = next(iter(loader))\nfor epoch"),
            (_ROWS, "    for x, y in [one] * 8:"),
            *_BATCH,
        ),
    ),
    (
        example(
            ("for epoch", f"{_SAMPLER}for epoch"),
            (_ROWS, "    sampler.set_epoch(epoch)\n    for x, y in loader:"),
            *_BATCH,
        ),
        example(("for epoch", f"{_SAMPLER}for epoch"), (_ROWS, "    for x, y in loader:"), *_BATCH),
    ),
)
LEAST = 8
"""Targets in a batch below which two may be equal by chance."""


@dataclass(kw_only=True)
class Numbers(Measured):
    """Ratios, shares between 0 and 1, and counts; each part of the instrument may lack its numbers."""

    mixed: float | None = optional("label entropy of a batch over that of random batches", (0.7, 1.3))
    same_batch_share: float | None = optional("share of kept batches equal to the first one", (0, 0.1))
    repeated_epoch_share: float | None = optional("share of batches that come again in the last epoch", (0, 0.1))
    loader_batches: float | None = optional("batches of the largest loader")
    epochs: float | None = optional("epochs")
    classes: float | None = optional("classes in all batches together", hidden=TWICE)
    classes_in_batch: float | None = optional(
        "classes in one batch, on average",
        hidden="the entropy ratio beside it does not depend on the number of classes",
    )
    batches: float | None = None


same_batch = Alarm(
    above("same_batch_share", 0.9) & above("loader_batches", 1),
    "The batches of the training were compared. {same_batch_share:.0%} of them repeat the first one.",
    "At most {limits[same_batch_share]:.0%} passes; {usual[same_batch_share]} is usual.",
)
few_classes = Alarm(
    below("mixed", 0.5),
    "The labels in each batch were counted. A batch has {classes_in_batch:.1f} of {classes:.0f} classes on average.",
    "At least half the variety of a random batch passes.",
)
repeated_epoch = Alarm(
    above("repeated_epoch_share", 0.9),
    "The batches of the training were compared. The last epoch repeats {repeated_epoch_share:.0%} of the first one's, "
    "in the same order.",
    "At most {limits[repeated_epoch_share]:.0%} passes; {usual[repeated_epoch_share]} is usual.",
)
ALARMS = (same_batch, few_classes, repeated_epoch)


def measure(run: Run) -> Numbers:
    """Ratios, shares between 0 and 1 and counts; absent where they cannot be known. Raises NotApplicable without any."""
    numbers: dict[str, float] = {}
    reasons = []
    for part in (_mixed, _repeated_batches, _repeated_epochs):
        try:
            numbers |= part(run)
        except NotApplicable as why:
            reasons.append(str(why))
    if not numbers:
        raise NotApplicable("; ".join(dict.fromkeys(reasons)))
    return Numbers.from_mapping(numbers)


def _mixed(run: Run) -> dict[str, float]:
    """Entropy of the labels of a batch. Raises NotApplicable below two batches of at least 8 class numbers each."""
    targets = [batch.targets for batch in batches(run) if batch.targets is not None]
    labels = [y.detach().cpu().long() for y in targets if not y.is_floating_point() and y.ndim == 1 and len(y) >= LEAST]
    if len(labels) < 2:
        raise NotApplicable("fewer than two batches with one class per sample were kept")
    whole = torch.cat(labels)
    if len(whole.unique()) < 2:
        raise NotApplicable("all kept labels are the same")
    # as many labels as a batch has can only show so much variety: the usual one is what drawing at random gives
    generator = torch.Generator().manual_seed(0)
    shuffled = [whole[torch.randperm(len(whole), generator=generator)[: len(y)]] for y in labels]
    usual = sum(map(_entropy, shuffled)) / len(shuffled)
    entropy = sum(map(_entropy, labels)) / len(labels)
    return {
        "mixed": entropy / usual if usual > 0 else 1.0,
        "classes": float(len(whole.unique())),
        "classes_in_batch": sum(len(y.unique()) for y in labels) / len(labels),
        "batches": float(len(labels)),
    }


def _entropy(labels: torch.Tensor) -> float:
    """Nats."""
    shares = torch.bincount(labels.clamp(min=0)).double() / len(labels)
    shares = shares[shares > 0]
    return float(-(shares * shares.log()).sum())


def _repeated_batches(run: Run) -> dict[str, float]:
    """How many of the kept batches equal the first one. Raises NotApplicable below 3 batches."""
    first, *others = [_compared(batch) for batch in batches(run)]
    later = [targets for targets in others if targets is not None]
    if first is None or first.numel() < LEAST or len(later) < 2:
        raise NotApplicable(f"fewer than 3 batches of at least {LEAST} targets were kept")
    same = [targets.shape == first.shape and torch.equal(targets, first) for targets in later]
    return {"same_batch_share": sum(same) / len(same), "loader_batches": float(_largest_loader())}


def _compared(batch: Any) -> torch.Tensor | None:
    """The targets of a batch, or else the first tensor that its model was called with."""
    if batch.targets is not None and batch.targets.numel() > 1 and batch.targets.unique().numel() > 1:
        return batch.targets
    return next(iter(tensors((batch.args, batch.kwargs))), None)


def _largest_loader() -> int:
    """Batches of the largest loader that is alive; 0 without one, or if none has a length."""
    most = 0
    for candidate in gc.get_objects():
        if issubclass(type(candidate), DataLoader):  # isinstance() asks a lazy module for its __class__
            try:
                most = max(most, len(candidate))
            except TypeError:  # of a stream
                continue
    return most


def _repeated_epochs(run: Run) -> dict[str, float]:
    """How many of the first epoch's batches come again. Raises NotApplicable without a shuffling loader and 2 epochs."""
    steps = need_steps(run, 2)
    loader = training_loader(run)
    if loader is None or loader.batch_sampler is None:
        raise NotApplicable("the training loop reads no DataLoader with batches")
    if not (isinstance(loader.sampler, RandomSampler) or getattr(loader.sampler, "shuffle", False)):
        raise NotApplicable("the loader of the training loop does not shuffle")
    epochs = steps / max(len(loader), 1)
    if epochs < 2:
        raise NotApplicable("training had fewer than 2 epochs")
    pairs = [
        (batch.step, batch.targets.flatten().cpu())
        for batch in permitted(run).first_batches
        if batch.step <= len(loader) and batch.targets is not None and _tells(batch.targets)
    ]
    if not pairs:
        raise NotApplicable(f"no batch with {LEAST} different targets was kept")
    now = _batches_now(loader, max(step for step, _ in pairs))
    same = [any(torch.equal(targets, x) for x in now[step - 1]) for step, targets in pairs]
    return {"repeated_epoch_share": sum(same) / len(same), "epochs": float(epochs)}


def _tells(targets: torch.Tensor) -> bool:
    return targets.numel() >= LEAST and targets.unique().numel() > 1


def _batches_now(loader: Any, batches: int) -> list[list[torch.Tensor]]:
    """The flattened tensors of the first batches that the loader would give now; generators stay as they are."""
    generators = [
        generator
        for generator in {loader.generator, getattr(loader.sampler, "generator", None)}
        if generator is not None
    ]
    try:
        with same_random(*generators):
            order = iter(loader.batch_sampler)
            rows = [next(order) for _ in range(batches)]
            fetched = [loader.collate_fn([loader.dataset[row] for row in some]) for some in rows]
    except Exception as error:  # a data set may do anything
        raise NotApplicable(f"the loader's batches cannot be fetched again ({type(error).__name__})") from None
    return [[x.flatten().cpu() for x in tensors(batch)] for batch in fetched]


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires on one batch repeated, on batches half as varied as random ones, and on epochs that repeat the first one."""
    suspects = []
    if same_batch(numbers):
        text = f"{share(numbers.same_batch_share or 0.0)} of the batches repeat the first one "
        text += f"(usually {Numbers.usual('same_batch_share')}); the loader has {numbers.loader_batches:.0f} batches"
        suspects.append(Suspect("loop/same_batch_forever", 0.9, text))
    if few_classes(numbers):
        text = f"a batch has {numbers.classes_in_batch:.1f} of {numbers.classes:.0f} classes on average, "
        text += f"{numbers.mixed:.0%} of the variety of random batches: the data is sorted by label"
        suspects.append(Suspect("data/no_shuffle", 0.85, text))
    if repeated_epoch(numbers):
        text = (
            f"after {numbers.epochs:.0f} epochs the loader still gives the batches of the first one, in the same order"
        )
        suspects.append(Suspect("distributed/set_epoch_missing", 0.85, text))
    if suspects:
        return Verdict("batch_order", True, suspects[0].reason, numbers.labeled(), tuple(suspects))
    return Verdict("batch_order", False, "batches are shuffled, and none repeats another", numbers.labeled())
