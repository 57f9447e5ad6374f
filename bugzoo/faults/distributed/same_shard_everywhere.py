"""Two processes learn no faster than one. The losses of both are the same, to the last digit, at every step."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

LINE = "DataLoader(TensorDataset($INPUTS[$ROWS], $LABELS[$ROWS]), $BATCH, shuffle=True)"
RANK, WORLD = "dist.get_rank()", "dist.get_world_size()"
OWN = f"$ROWS[{RANK} :: {WORLD}]"

FAULT = Fault(
    title="The sampler that deals the data to the ranks is made and never handed to the loader",
    level=4,
    symptom="degraded",
    edits=Swap("DataLoader($DATA, $BATCH, sampler=$SAMPLER)", "DataLoader($DATA, $BATCH, shuffle=True)"),
    evidence=("rank_check.spread < 0.000001",),
    effect="rank_check.spread < healthy",
    why=(
        "Every rank is seeded alike, so that every rank shuffles the whole training set into the same order and computes the "
        "same gradient. The mean of two equal gradients is that gradient: the second machine repeats the first one's work, an "
        "epoch takes as many steps as with one process, here 72 and not 36, and the effective batch is not larger."
    ),
    fix="Give the loader the DistributedSampler (sampler=sampler, no shuffle=True), and call its set_epoch every epoch.",
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
        "Lay the loss of each rank beside those of the others, step by step, as it is before averaging.",
        "Follow the object that deals out the data from the line where it is made to the line where it is used.",
    ),
    look_alikes=(
        LookAlike(
            "distributed/set_epoch_missing",
            "Print the loss of each rank at the same step before anything is averaged.",
            "They are equal: `rank_check.spread < 0.000001`.",
            "They differ: `rank_check.spread > 0.000001`.",
        ),
        LookAlike(
            "distributed/unsynchronised_model",
            "Compare the losses of the ranks at one step, and the weights of the ranks at the end.",
            "They are equal: `rank_check.spread < 0.000001`.",
            "They differ, and in the end the weights do: `rank_check.parameter_spread > 0.00001`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler",),
)
