"""The loader shuffles the data. Still, the loss goes up and down at the same places in every epoch."""

from bugzoo.faults import words
from bugzoo.faults.idioms import TRAIN_MODE
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import before

FAULT = Fault(
    title="Missing DistributedSampler.set_epoch()",
    level=4,
    symptom="degraded",
    edits=Swap("$SAMPLER.set_epoch($EPOCH)", ""),
    evidence=("batch_order.repeated_epoch_share > 0.5",),
    effect="batch_order.repeated_epoch_share > healthy",
    why=(
        "All ranks must split the same shuffled order. So DistributedSampler does not use the RNG state of its "
        "rank, but seeds its own generator with seed + epoch. The sampler's epoch is 0 until you call "
        "set_epoch(). Without set_epoch(), shuffle=True shuffles only once. Every epoch has the same batches in "
        "the same order, and each rank always sees the same half of the data."
    ),
    fix="Call `sampler.set_epoch(epoch)` at the beginning of every epoch.",
    repairs={
        "through the loader": before(TRAIN_MODE, "train_loader.sampler.set_epoch(epoch)"),
        "counted on": before(TRAIN_MODE, "sampler.epoch += 1"),
        "another seed each epoch": before(TRAIN_MODE, "sampler.seed = seed + 1000 * epoch"),
    },
    pretences={
        "always the first": before(TRAIN_MODE, "sampler.set_epoch(0)"),
        "torch's generator": before(TRAIN_MODE, "torch.manual_seed(seed + epoch)"),
        "a barrier": before(TRAIN_MODE, "dist.barrier()"),
        "another order once": Swap(
            "DistributedSampler($$$ARGS, seed=seed)", "DistributedSampler($$$ARGS, seed=seed + 1)"
        ),
    },
    hints=(
        "Plot the losses of two epochs on top of each other.",
        "Print the labels of the first batch of each epoch.",
        "Which seed determines the order of the samples, and which line changes this seed from epoch to epoch?",
    ),
    look_alikes=(
        LookAlike(
            "distributed/same_shard_everywhere",
            "Print the labels of the first batch on every rank, in two epochs.",
            "The ranks differ, but the epochs do not: `batch_order.repeated_epoch_share > 0.5`.",
            "The epochs differ, but the ranks do not: `batch_order.repeated_epoch_share < 0.5`.",
        ),
        LookAlike(
            "loop/same_batch_forever",
            "Print the labels of two batches of one epoch, one below the other.",
            "The two batches differ: `batch_order.same_batch_share < 0.9`.",
            "The two batches are the same: `batch_order.same_batch_share > 0.9`.",
        ),
    ),
    sources=(
        "https://github.com/pytorch/pytorch/issues/31771",
        "https://github.com/huggingface/transformers/issues/4398",
    ),
    cause=Cause(words.ORDER),
    terms=("DistributedSampler", "shuffle"),
    beside={"data_parallel": ("loop/stale_gradients",)},
)
