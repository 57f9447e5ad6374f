"""The run ends at its first step: the allocator could not get the memory that it asked for."""

from bugzoo.faults.idioms import BACKWARD, BATCH_SIZE
from bugzoo.faults.model import Fault, LookAlike, Needs, Param, Swap
from bugzoo.faults.verbs import before, either, rewrite

FAULT = Fault(
    title="Batch larger than the memory",
    level=1,
    symptom="oom",
    params={"factor": Param(1024, 2, 1_000_000, "how many times the healthy batch size")},
    edits=rewrite(BATCH_SIZE, SIZE="fold($SIZE * $factor)"),
    needs=Needs(memory_mib=1500),
    not_on={
        name: "all that it can take into one batch fits into the 1500 MiB that the run gets, measured."
        for name in (
            "checkpointed_mlp",
            "data_parallel",
            "digits_cnn",
            "finetune",
            "image_pipeline",
            "mlp",
            "modular_addition",
            "regression_mlp",
            "sentiment_lstm",
            "sequence_classifier",
            "word_lines",
        )
    },
    evidence=("outcome == out_of_memory",),
    effect="outcome == out_of_memory",
    why=(
        "What training keeps for backward() grows in proportion to the batch; parameters, gradients and optimiser state "
        "do not. Attention keeps a (time, time) table per head and sample on top."
    ),
    fix="A smaller batch with gradient accumulation, activation checkpointing, or mixed precision.",
    repairs={
        "divided again": rewrite(BATCH_SIZE, SIZE="$SIZE // $factor"),
        "never more than": rewrite(BATCH_SIZE, SIZE="min($SIZE, $SIZE // $factor)"),
        "where it is used": either(
            Swap(
                "train_loader = DataLoader($DATA, batch_size, $$$REST)",
                "train_loader = DataLoader($DATA, batch_size // $factor, $$$REST)",
            ),
            Swap("batch(train_codes, batch_size)", "batch(train_codes, batch_size // $factor)"),
        ),
    },
    pretences={
        "half of it": rewrite(BATCH_SIZE, SIZE="$SIZE // 2"),
        "the error swallowed": Swap("$LOSS.backward()", "try:\n    $LOSS.backward()\nexcept RuntimeError:\n    pass"),
        "smaller numbers": before(BACKWARD, "loss = loss.half()"),
    },
    hints=(
        "Does it fail at the first step or after many? That tells a batch from a leak.",
        "Estimate the memory of one sample's activations and multiply.",
        "Which setting multiplies every activation?",
    ),
    look_alikes=(
        LookAlike(
            "memory/losses_kept_with_graph",
            "See at which step it fails, and whether the memory has grown from step to step until then.",
            "At the first step: `outcome == out_of_memory`.",
            "Much later, and after a steady growth: `memory_audit.graphs_kept > 5`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/notes/cuda.html#memory-management",),
)
