"""Two processes learn no faster than one. At every step, both have the same loss, to the last digit."""

from bugzoo.faults import words
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

LINE = "DataLoader(TensorDataset($INPUTS[$ROWS], $LABELS[$ROWS]), $BATCH, shuffle=True)"
RANK, WORLD = "dist.get_rank()", "dist.get_world_size()"
OWN = f"$ROWS[{RANK} :: {WORLD}]"

FAULT = Fault(
    title="DistributedSampler not passed to the DataLoader",
    level=4,
    symptom="degraded",
    edits=Swap("DataLoader($DATA, $BATCH, sampler=$SAMPLER)", "DataLoader($DATA, $BATCH, shuffle=True)"),
    evidence=("rank_check.spread < 0.000001",),
    effect="rank_check.spread < healthy",
    why=(
        "All ranks have the same seed, so each rank shuffles the whole training set into the same order and "
        "computes the same gradient. The mean of two equal gradients is the same gradient again. The second "
        "process repeats the work of the first. An epoch takes as many steps as with one process, here 72 instead "
        "of 36, and the effective batch size does not grow."
    ),
    fix=(
        "Pass the sampler to the loader: `DataLoader(data, batch_size, sampler=sampler)`, without shuffle=True. "
        "Call `sampler.set_epoch(epoch)` in every epoch."
    ),
    repairs=instead(
        LINE,
        {
            "cut by hand": f"DataLoader(TensorDataset($INPUTS[{OWN}], $LABELS[{OWN}]), $BATCH, shuffle=True)",
            "a sampler made on the spot": (
                "DataLoader(TensorDataset($INPUTS[$ROWS], $LABELS[$ROWS]), $BATCH, "
                f"sampler=(sampler := DistributedSampler($ROWS, {WORLD}, {RANK}, seed=seed + 1)))"
            ),
            "batches of the sampler": (
                "DataLoader(TensorDataset($INPUTS[$ROWS], $LABELS[$ROWS]), "
                "batch_sampler=torch.utils.data.BatchSampler(sampler, $BATCH, False))"
            ),
        },
    ),
    pretences=instead(
        LINE,
        {
            "not shuffled": "DataLoader(TensorDataset($INPUTS[$ROWS], $LABELS[$ROWS]), $BATCH)",
            "half of it for everybody": (
                "DataLoader(TensorDataset($INPUTS[$ROWS[: len($ROWS) // 2]], $LABELS[$ROWS[: len($ROWS) // 2]]), "
                "$BATCH, shuffle=True)"
            ),
            "rank 0's half for everybody": (
                "DataLoader(TensorDataset($INPUTS[$ROWS], $LABELS[$ROWS]), $BATCH, "
                f"sampler=DistributedSampler($ROWS, {WORLD}, 0, seed=seed))"
            ),
            "twice as large batches": (
                "DataLoader(TensorDataset($INPUTS[$ROWS], $LABELS[$ROWS]), 2 * $BATCH, shuffle=True)"
            ),
        },
    ),
    hints=(
        "Count the steps of an epoch with one process and with two.",
        "Print the loss of each rank at every step, before any averaging. Compare the ranks.",
        "Which object splits the data between the ranks? Which line creates this object, and which lines use it?",
    ),
    look_alikes=(
        LookAlike(
            "distributed/set_epoch_missing",
            "Print the loss of each rank at the same step before anything is averaged.",
            "All ranks have the same loss: `rank_check.spread < 0.000001`.",
            "The ranks have different losses: `rank_check.spread > 0.000001`.",
        ),
        LookAlike(
            "distributed/unsynchronised_model",
            "Compare the losses of the ranks at one step, and the weights of the ranks at the end.",
            "The losses and the weights are equal: `rank_check.spread < 0.000001`.",
            "The losses differ, and at the end the weights differ too: `rank_check.parameter_spread > 0.00001`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler",),
    cause=Cause(words.SHARES, also=("distributed sampler", "missing sampler")),
    terms=("DistributedSampler", "shard"),
    beside={"data_parallel": ("freezing/frozen_layers",)},
)
