"""The run stops at its first step with an out of memory (OOM) error."""

from bugzoo.faults import words
from bugzoo.faults.idioms import BACKWARD, BATCH_SIZE
from bugzoo.faults.model import Cause, Fault, LookAlike, Needs, Param, Swap
from bugzoo.faults.verbs import before, either, rewrite

FAULT = Fault(
    title="Batch size too large for the available memory",
    level=1,
    symptom="oom",
    params={"factor": Param(1024, 2, 1_000_000, "how many times the healthy batch size")},
    edits=rewrite(BATCH_SIZE, SIZE="fold($SIZE * $factor)"),
    needs=Needs(memory_mib=1500),
    not_on={
        name: "even the largest batch of this program fits into the 1500 MiB of the run (measured)."
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
        "The activations that training keeps for backward() grow in proportion to the batch size. Parameters, "
        "gradients and optimizer state do not. Attention also keeps a (time, time) table per head and sample."
    ),
    fix="Use a smaller batch with gradient accumulation, activation checkpointing, or mixed precision.",
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
        "Does the run fail at its first step, or after memory has grown for many steps?",
        "Estimate the activation memory of one sample and multiply it by the number of samples in one step.",
        "Which setting multiplies the size of every activation?",
    ),
    look_alikes=(
        LookAlike(
            "memory/losses_kept_with_graph",
            "Note the step at which the run fails. Did memory grow from step to step until then?",
            "The run fails at the first step: `outcome == out_of_memory`.",
            "The run fails much later, after steady growth: `memory_audit.graphs_kept > 5`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/notes/cuda.html#memory-management",),
    cause=Cause(words.MEMORY, also=("out of memory", "oom", "batch size")),
    terms=("batch", "OOM (out of memory)"),
)
