"""The loader is asked to shuffle. All the same the losses of every epoch go up and down at the same places."""

from bugzoo.faults.idioms import TRAIN_MODE
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import before

FAULT = Fault(
    title="The sampler is never told which epoch it is",
    level=4,
    symptom="degraded",
    edits=Swap("$SAMPLER.set_epoch($EPOCH)", ""),
    evidence=("epoch_order.repeated > 0.5",),
    effect="epoch_order.repeated > healthy",
    why=(
        "All ranks must cut up the same shuffled order, so that DistributedSampler cannot draw it from a generator that each "
        "rank uses in its own way: it seeds one with seed + epoch. Its epoch is 0 until set_epoch() says otherwise. "
        "shuffle=True alone shuffles once, and from then on each epoch has the same batches in the same order, and each rank "
        "sees the same half for ever."
    ),
    fix="sampler.set_epoch(epoch) at the beginning of every epoch.",
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
        "Lay the losses of two epochs upon each other.",
        "Print the labels of the first batch of each epoch.",
        "From what does the object that deals out the samples draw its order, and what changes that from epoch to epoch?",
    ),
    look_alikes=(
        LookAlike(
            "distributed/same_shard_everywhere",
            "Print the labels of the first batch on every rank, in two epochs.",
            "The ranks differ, the epochs do not: `epoch_order.repeated > 0.5`.",
            "The epochs differ, the ranks do not: `epoch_order.repeated < 0.5`.",
        ),
        LookAlike(
            "loop/same_batch_forever",
            "Print the labels of two batches of one epoch, one below the other.",
            "They differ: `fresh_batches.repeated_share < 0.9`.",
            "They are the same: `fresh_batches.repeated_share > 0.9`.",
        ),
    ),
    sources=(
        "https://github.com/pytorch/pytorch/issues/31771",
        "https://github.com/huggingface/transformers/issues/4398",
    ),
)
